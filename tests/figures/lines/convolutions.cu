// SPDX-License-Identifier: Apache-2.0
// Convolutions with few and many channels, to hold against cuDNN.

//@ task    conv2d_3_channels
//@ torch   Y = F.conv2d(X, weight, stride=2, padding=3)
//@ size    B = 32, C = 3, O = 64, H = 224, W = 224, OH = (H - 1) / 2 + 1, OW = (W - 1) / 2 + 1
//@ check   B = 2, C = 3, O = 10, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 7, 7] ~ uniform(-0.08, 0.08)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 2, 3, 1, 1, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 7, 7, 1, OH, OW)

//@ task    conv2d_16_channels
//@ torch   Y = F.conv2d(X, weight, padding=1)
//@ size    B = 32, C = 16, O = 32, H = 128, W = 128, OH = H, OW = W
//@ check   B = 2, C = 3, O = 10, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 3, 3] ~ uniform(-0.08, 0.08)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 1, 1, 1, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)

//@ task    conv2d_64_channels
//@ torch   Y = F.conv2d(X, weight, padding=1)
//@ size    B = 32, C = 64, O = 64, H = 56, W = 56, OH = H, OW = W
//@ check   B = 2, C = 3, O = 10, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 3, 3] ~ uniform(-0.04, 0.04)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 1, 1, 1, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)

//@ task    conv2d_256_channels
//@ torch   Y = F.conv2d(X, weight, padding=1)
//@ size    B = 32, C = 256, O = 256, H = 28, W = 28, OH = H, OW = W
//@ check   B = 2, C = 3, O = 10, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 3, 3] ~ uniform(-0.02, 0.02)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 1, 1, 1, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)

//@ task    conv2d_512_channels
//@ torch   Y = F.conv2d(X, weight, padding=1)
//@ size    B = 32, C = 512, O = 512, H = 14, W = 14, OH = H, OW = W
//@ check   B = 2, C = 3, O = 10, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 3, 3] ~ uniform(-0.01, 0.01)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 1, 1, 1, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)

//@ task    conv2d_strided
//@ torch   Y = F.conv2d(X, weight, stride=2, padding=1)
//@ size    B = 32, C = 128, O = 256, H = 56, W = 56, OH = (H - 1) / 2 + 1, OW = (W - 1) / 2 + 1
//@ check   B = 2, C = 3, O = 10, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 3, 3] ~ uniform(-0.03, 0.03)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 2, 1, 1, 1, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)

//@ task    conv2d_pointwise
//@ torch   Y = F.conv2d(X, weight)
//@ size    B = 32, C = 256, O = 128, H = 56, W = 56, OH = H, OW = W
//@ check   B = 2, C = 3, O = 10, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 1, 1] ~ uniform(-0.06, 0.06)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 0, 1, 1, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 1, 1, 1, OH, OW)

//@ task    conv2d_grouped
//@ torch   Y = F.conv2d(X, weight, padding=1, groups=8)
//@ size    B = 32, C = 256, O = 256, H = 28, W = 28, OH = H, OW = W
//@ check   B = 2, C = 16, O = 24, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C / 8, 3, 3] ~ uniform(-0.06, 0.06)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 1, 1, 8, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)

//@ task    conv2d_depthwise
//@ torch   Y = F.conv2d(X, weight, padding=1, groups=128)
//@ size    B = 32, C = 128, O = 128, H = 112, W = 112, OH = H, OW = W
//@ check   B = 2, C = 128, O = 128, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, 1, 3, 3] ~ uniform(-0.33, 0.33)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 1, 1, 128, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)

//@ task    conv2d_depthwise_strided
//@ torch   Y = F.conv2d(X, weight, stride=2, padding=2, groups=128)
//@ size    B = 32, C = 128, O = 128, H = 112, W = 112, OH = (H - 1) / 2 + 1, OW = (W - 1) / 2 + 1
//@ check   B = 2, C = 128, O = 128, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, 1, 5, 5] ~ uniform(-0.2, 0.2)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 2, 2, 1, 128, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 5, 5, 1, OH, OW)

//@ task    conv1d_64_channels
//@ torch   Y = F.conv1d(X, weight, padding=2)
//@ size    B = 32, C = 64, O = 128, L = 16384, P = L
//@ check   B = 2, C = 3, O = 10, L = 7
//@ input   X: float32[B, C, L]
//@ input   weight: float32[O, C, 5] ~ uniform(-0.06, 0.06)
//@ output  Y: float32[B, O, P]
//@ launch  conv<1, 1, 2, 1, 1, false><<<ceil_div(B * O * P, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, 1, L, 1, 1, 5, 1, 1, P)

//@ task    conv1d_depthwise
//@ torch   Y = F.conv1d(X, weight, padding=3, groups=256)
//@ size    B = 32, C = 256, O = 256, L = 8192, P = L
//@ check   B = 2, C = 256, O = 256, L = 7
//@ input   X: float32[B, C, L]
//@ input   weight: float32[O, 1, 7] ~ uniform(-0.38, 0.38)
//@ output  Y: float32[B, O, P]
//@ launch  conv<1, 1, 3, 1, 256, false><<<ceil_div(B * O * P, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, 1, L, 1, 1, 7, 1, 1, P)

//@ task    conv3d_3_channels
//@ torch   Y = F.conv3d(X, weight, padding=1)
//@ size    B = 8, C = 3, O = 32, D = 16, H = 112, W = 112, OD = D, OH = H, OW = W
//@ check   B = 2, C = 3, O = 10, D = 7, H = 9, W = 8
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[O, C, 3, 3, 3] ~ uniform(-0.11, 0.11)
//@ output  Y: float32[B, O, OD, OH, OW]
//@ launch  conv<3, 1, 1, 1, 1, false><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, D, H, W, 3, 3, 3, OD, OH, OW)

//@ task    conv3d_64_channels
//@ torch   Y = F.conv3d(X, weight, padding=1)
//@ size    B = 8, C = 64, O = 64, D = 16, H = 28, W = 28, OD = D, OH = H, OW = W
//@ check   B = 2, C = 3, O = 10, D = 7, H = 9, W = 8
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[O, C, 3, 3, 3] ~ uniform(-0.02, 0.02)
//@ output  Y: float32[B, O, OD, OH, OW]
//@ launch  conv<3, 1, 1, 1, 1, false><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, D, H, W, 3, 3, 3, OD, OH, OW)

//@ task    conv_transpose1d_64_channels
//@ torch   Y = F.conv_transpose1d(X, weight, stride=2, padding=1)
//@ size    B = 32, C = 64, O = 64, L = 8192, P = 2 * L
//@ check   B = 2, C = 3, O = 10, L = 7
//@ input   X: float32[B, C, L]
//@ input   weight: float32[C, O, 4] ~ uniform(-0.06, 0.06)
//@ output  Y: float32[B, O, P]
//@ launch  conv_transpose<1, 2, 1, 1, false><<<ceil_div(B * O * P, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, 1, L, 1, 1, 4, 1, 1, P)

//@ task    conv_transpose2d_16_channels
//@ torch   Y = F.conv_transpose2d(X, weight, stride=2, padding=1, output_padding=1)
//@ size    B = 16, C = 16, O = 16, H = 128, W = 128, OH = 2 * H, OW = 2 * W
//@ check   B = 2, C = 3, O = 10, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 3, 3] ~ uniform(-0.08, 0.08)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv_transpose<2, 2, 1, 1, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)

//@ task    conv_transpose2d_128_channels
//@ torch   Y = F.conv_transpose2d(X, weight, stride=2, padding=1)
//@ size    B = 16, C = 128, O = 64, H = 64, W = 64, OH = 2 * H, OW = 2 * W
//@ check   B = 2, C = 3, O = 10, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 4, 4] ~ uniform(-0.02, 0.02)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv_transpose<2, 2, 1, 1, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 4, 4, 1, OH, OW)

//@ task    conv_transpose3d_32_channels
//@ torch   Y = F.conv_transpose3d(X, weight, stride=2, padding=1)
//@ size    B = 8, C = 32, O = 32, D = 8, H = 32, W = 32, OD = 2 * D, OH = 2 * H, OW = 2 * W
//@ check   B = 2, C = 3, O = 10, D = 7, H = 9, W = 8
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[C, O, 4, 4, 4] ~ uniform(-0.02, 0.02)
//@ output  Y: float32[B, O, OD, OH, OW]
//@ launch  conv_transpose<3, 2, 1, 1, false><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, D, H, W, 4, 4, 4, OD, OH, OW)
