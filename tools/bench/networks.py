"""ResNet-18 and MobileNetV2 in plain torch.nn, as published, with the weights of array_networks.py. For the torch contenders."""

from __future__ import annotations

import torch
from torch import nn


def convolution(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1, activation=None) -> nn.Sequential:
    layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([activation()] if activation else []))


class Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.body = nn.Sequential(convolution(inputs, outputs, 3, stride, activation=nn.ReLU),
                                  convolution(outputs, outputs, 3))
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else convolution(inputs, outputs, 1, stride)

    def forward(self, x):
        return nn.functional.relu(self.body(x) + self.shortcut(x))


def resnet18() -> nn.Module:
    layers = [convolution(3, 64, 7, 2, activation=nn.ReLU), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(channels, width, stride), Block(width, width, 1)]
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


class Inverted(nn.Module):
    """Wide inside, one filter a channel, narrow at the ends."""

    def __init__(self, inputs: int, outputs: int, stride: int, wider: int):
        super().__init__()
        wide = inputs * wider
        first = [] if wider == 1 else [convolution(inputs, wide, 1, activation=nn.ReLU6)]
        self.body = nn.Sequential(*first, convolution(wide, wide, 3, stride, wide, nn.ReLU6), convolution(wide, outputs, 1))
        self.same = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.same else self.body(x)


def mobilenet_v2() -> nn.Module:
    layers, channels = [convolution(3, 32, 3, 2, activation=nn.ReLU6)], 32
    for wider, width, repeat, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                         (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(repeat):
            layers.append(Inverted(channels, width, stride if i == 0 else 1, wider))
            channels = width
    layers += [convolution(channels, 1280, 1, activation=nn.ReLU6), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(1280, 1000))


NETWORKS = {"resnet18": resnet18, "mobilenet_v2": mobilenet_v2}


def with_weights(network: nn.Module, arrays) -> nn.Module:
    """For inference, in channels-last memory, with `arrays` (array_networks.weights) in place of its own."""
    arrays = iter(arrays)
    with torch.no_grad():
        for layer in network.modules():
            if isinstance(layer, nn.Conv2d):
                layer.weight.copy_(next(arrays).permute(3, 2, 0, 1))
            elif isinstance(layer, nn.BatchNorm2d):
                scale, shift = next(arrays)
                layer.weight.copy_(scale)
                layer.bias.copy_(shift)
                layer.running_var.fill_(1 - layer.eps)
            elif isinstance(layer, nn.Linear):
                layer.weight.copy_(next(arrays).T)
                layer.bias.copy_(next(arrays))
    return network.eval().to(memory_format=torch.channels_last)
