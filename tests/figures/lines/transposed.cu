// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions of the shapes that odd tasks of KernelBench have (level 1, and five of level 2), to hold against torch.compile; and one
// whose groups have channels for warpgroups.

//@ task    transposed_square_2d
//@ torch   Y = F.conv_transpose2d(X, weight)
//@ size    B = 8, C = 64, O = 64, H = 1024, W = 1024, OH = (H - 1) * 1 - 0 + 2 + 0 + 1, OW = (W - 1) * 1 - 0 + 2 + 0 + 1
//@ check   B = 2, C = 35, O = 40, H = 5, W = 7, OH = (H - 1) * 1 - 0 + 2 + 0 + 1, OW = (W - 1) * 1 - 0 + 2 + 0 + 1
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 3, 3] ~ uniform(-0.042, 0.042)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  transposed<1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 3, 3, 1><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, 1, H, W, 1, OH, OW)

//@ task    transposed_cube_3d
//@ torch   Y = F.conv_transpose3d(X, weight)
//@ size    B = 8, C = 48, O = 48, D = 64, H = 64, W = 64, OD = (D - 1) * 1 - 0 + 2 + 0 + 1, OH = (H - 1) * 1 - 0 + 2 + 0 + 1, OW = (W - 1) * 1 - 0 + 2 + 0 + 1
//@ check   B = 2, C = 35, O = 40, D = 5, H = 7, W = 6, OD = (D - 1) * 1 - 0 + 2 + 0 + 1, OH = (H - 1) * 1 - 0 + 2 + 0 + 1, OW = (W - 1) * 1 - 0 + 2 + 0 + 1
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[C, O, 3, 3, 3] ~ uniform(-0.028, 0.028)
//@ output  Y: float32[B, O, OD, OH, OW]
//@ launch  transposed<1, 1, 1, 0, 0, 0, 1, 1, 1, 3, 3, 3, 1><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, D, H, W, OD, OH, OW)

//@ task    transposed_wide_kernel_2d
//@ torch   Y = F.conv_transpose2d(X, weight)
//@ size    B = 8, C = 64, O = 64, H = 512, W = 512, OH = (H - 1) * 1 - 0 + 2 + 0 + 1, OW = (W - 1) * 1 - 0 + 6 + 0 + 1
//@ check   B = 2, C = 35, O = 40, H = 5, W = 7, OH = (H - 1) * 1 - 0 + 2 + 0 + 1, OW = (W - 1) * 1 - 0 + 6 + 0 + 1
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 3, 7] ~ uniform(-0.027, 0.027)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  transposed<1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 3, 7, 1><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, 1, H, W, 1, OH, OW)

//@ task    transposed_wide_both_2d
//@ torch   Y = F.conv_transpose2d(X, weight)
//@ size    B = 64, C = 64, O = 128, H = 128, W = 256, OH = (H - 1) * 1 - 0 + 2 + 0 + 1, OW = (W - 1) * 1 - 0 + 4 + 0 + 1
//@ check   B = 2, C = 35, O = 40, H = 5, W = 7, OH = (H - 1) * 1 - 0 + 2 + 0 + 1, OW = (W - 1) * 1 - 0 + 4 + 0 + 1
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 3, 5] ~ uniform(-0.032, 0.032)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  transposed<1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 3, 5, 1><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, 1, H, W, 1, OH, OW)

//@ task    transposed_wide_input_2d
//@ torch   Y = F.conv_transpose2d(X, weight)
//@ size    B = 8, C = 32, O = 32, H = 512, W = 1024, OH = (H - 1) * 1 - 0 + 2 + 0 + 1, OW = (W - 1) * 1 - 0 + 2 + 0 + 1
//@ check   B = 2, C = 35, O = 40, H = 5, W = 7, OH = (H - 1) * 1 - 0 + 2 + 0 + 1, OW = (W - 1) * 1 - 0 + 2 + 0 + 1
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 3, 3] ~ uniform(-0.059, 0.059)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  transposed<1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 3, 3, 1><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, 1, H, W, 1, OH, OW)

//@ task    transposed_grouped_strided_3d
//@ torch   Y = F.conv_transpose3d(X, weight, stride=2, padding=1, groups=4)
//@ size    B = 4, C = 32, O = 32, D = 32, H = 64, W = 128, OD = (D - 1) * 2 - 2 + 2 + 0 + 1, OH = (H - 1) * 2 - 2 + 2 + 0 + 1, OW = (W - 1) * 2 - 2 + 2 + 0 + 1
//@ check   B = 2, C = 32, O = 32, D = 5, H = 7, W = 6, OD = (D - 1) * 2 - 2 + 2 + 0 + 1, OH = (H - 1) * 2 - 2 + 2 + 0 + 1, OW = (W - 1) * 2 - 2 + 2 + 0 + 1
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[C, O / 4, 3, 3, 3] ~ uniform(-0.068, 0.068)
//@ output  Y: float32[B, O, OD, OH, OW]
//@ launch  transposed<2, 2, 2, 1, 1, 1, 1, 1, 1, 3, 3, 3, 4><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, D, H, W, OD, OH, OW)

//@ task    transposed_grouped_strided_dilated_2d
//@ torch   Y = F.conv_transpose2d(X, weight, stride=(2, 3), padding=(1, 2), groups=4, dilation=(2, 1))
//@ size    B = 16, C = 32, O = 64, H = 128, W = 256, OH = (H - 1) * 2 - 2 + 4 + 0 + 1, OW = (W - 1) * 3 - 4 + 4 + 0 + 1
//@ check   B = 2, C = 32, O = 32, H = 5, W = 7, OH = (H - 1) * 2 - 2 + 4 + 0 + 1, OW = (W - 1) * 3 - 4 + 4 + 0 + 1
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O / 4, 3, 5] ~ uniform(-0.091, 0.091)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  transposed<1, 2, 3, 0, 1, 2, 1, 2, 1, 1, 3, 5, 4><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, 1, H, W, 1, OH, OW)

//@ task    transposed_strided_dilated_3d
//@ torch   Y = F.conv_transpose3d(X, weight, stride=2, padding=1, dilation=2)
//@ size    B = 16, C = 32, O = 64, D = 16, H = 32, W = 32, OD = (D - 1) * 2 - 2 + 4 + 0 + 1, OH = (H - 1) * 2 - 2 + 4 + 0 + 1, OW = (W - 1) * 2 - 2 + 4 + 0 + 1
//@ check   B = 2, C = 35, O = 40, D = 5, H = 7, W = 6, OD = (D - 1) * 2 - 2 + 4 + 0 + 1, OH = (H - 1) * 2 - 2 + 4 + 0 + 1, OW = (W - 1) * 2 - 2 + 4 + 0 + 1
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[C, O, 3, 3, 3] ~ uniform(-0.034, 0.034)
//@ output  Y: float32[B, O, OD, OH, OW]
//@ launch  transposed<2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 1><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, D, H, W, OD, OH, OW)

//@ task    transposed_strided_dilated_1d
//@ torch   Y = F.conv_transpose1d(X, weight, stride=2, padding=1, dilation=2)
//@ size    B = 16, C = 32, O = 64, W = 131072, OW = (W - 1) * 2 - 2 + 4 + 0 + 1
//@ check   B = 2, C = 35, O = 40, W = 9, OW = (W - 1) * 2 - 2 + 4 + 0 + 1
//@ input   X: float32[B, C, W]
//@ input   weight: float32[C, O, 3] ~ uniform(-0.102, 0.102)
//@ output  Y: float32[B, O, OW]
//@ launch  transposed<1, 1, 2, 0, 0, 1, 1, 1, 2, 1, 1, 3, 1><<<ceil_div(B * O * OW, 256), 256>>>(X, weight, Y, B, C, O, 1, 1, W, 1, 1, OW)

//@ task    transposed_strided_dilated_2d
//@ torch   Y = F.conv_transpose2d(X, weight, stride=5, padding=1, dilation=2)
//@ size    B = 16, C = 32, O = 64, H = 64, W = 128, OH = (H - 1) * 5 - 2 + 4 + 0 + 1, OW = (W - 1) * 5 - 2 + 4 + 0 + 1
//@ check   B = 2, C = 35, O = 40, H = 5, W = 7, OH = (H - 1) * 5 - 2 + 4 + 0 + 1, OW = (W - 1) * 5 - 2 + 4 + 0 + 1
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 3, 3] ~ uniform(-0.059, 0.059)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  transposed<1, 5, 5, 0, 1, 1, 1, 2, 2, 1, 3, 3, 1><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, 1, H, W, 1, OH, OW)

//@ task    transposed_small_channels_3d
//@ torch   Y = F.conv_transpose3d(X, weight, stride=2, padding=1)
//@ size    B = 16, C = 16, O = 32, D = 16, H = 32, W = 32, OD = (D - 1) * 2 - 2 + 2 + 0 + 1, OH = (H - 1) * 2 - 2 + 2 + 0 + 1, OW = (W - 1) * 2 - 2 + 2 + 0 + 1
//@ check   B = 2, C = 35, O = 40, D = 5, H = 7, W = 6, OD = (D - 1) * 2 - 2 + 2 + 0 + 1, OH = (H - 1) * 2 - 2 + 2 + 0 + 1, OW = (W - 1) * 2 - 2 + 2 + 0 + 1
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[C, O, 3, 3, 3] ~ uniform(-0.048, 0.048)
//@ output  Y: float32[B, O, OD, OH, OW]
//@ launch  transposed<2, 2, 2, 1, 1, 1, 1, 1, 1, 3, 3, 3, 1><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, D, H, W, OD, OH, OW)

//@ task    transposed_small_cube_3d
//@ torch   Y = F.conv_transpose3d(X, weight)
//@ size    B = 16, C = 64, O = 128, D = 32, H = 32, W = 32, OD = (D - 1) * 1 - 0 + 2 + 0 + 1, OH = (H - 1) * 1 - 0 + 2 + 0 + 1, OW = (W - 1) * 1 - 0 + 2 + 0 + 1
//@ check   B = 2, C = 35, O = 40, D = 5, H = 7, W = 6, OD = (D - 1) * 1 - 0 + 2 + 0 + 1, OH = (H - 1) * 1 - 0 + 2 + 0 + 1, OW = (W - 1) * 1 - 0 + 2 + 0 + 1
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[C, O, 3, 3, 3] ~ uniform(-0.024, 0.024)
//@ output  Y: float32[B, O, OD, OH, OW]
//@ launch  transposed<1, 1, 1, 0, 0, 0, 1, 1, 1, 3, 3, 3, 1><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, D, H, W, OD, OH, OW)

//@ task    transposed_strided_2d
//@ torch   Y = F.conv_transpose2d(X, weight, stride=2, padding=1, output_padding=1)
//@ size    B = 128, C = 64, O = 128, H = 64, W = 64, OH = (H - 1) * 2 - 2 + 3 + 1 + 1, OW = (W - 1) * 2 - 2 + 3 + 1 + 1
//@ check   B = 2, C = 35, O = 40, H = 5, W = 7, OH = (H - 1) * 2 - 2 + 3 + 1 + 1, OW = (W - 1) * 2 - 2 + 3 + 1 + 1
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 4, 4] ~ uniform(-0.031, 0.031)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  transposed<1, 2, 2, 0, 1, 1, 1, 1, 1, 1, 4, 4, 1><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, 1, H, W, 1, OH, OW)

//@ task    transposed_five_taps_2d
//@ torch   Y = F.conv_transpose2d(X, weight, padding=1)
//@ size    B = 512, C = 64, O = 128, H = 32, W = 32, OH = (H - 1) * 1 - 2 + 4 + 0 + 1, OW = (W - 1) * 1 - 2 + 4 + 0 + 1
//@ check   B = 2, C = 35, O = 40, H = 5, W = 7, OH = (H - 1) * 1 - 2 + 4 + 0 + 1, OW = (W - 1) * 1 - 2 + 4 + 0 + 1
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 5, 5] ~ uniform(-0.025, 0.025)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  transposed<1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 5, 5, 1><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, 1, H, W, 1, OH, OW)

//@ task    transposed_strided_large_2d
//@ torch   Y = F.conv_transpose2d(X, weight, stride=2, padding=1, output_padding=1)
//@ size    B = 32, C = 64, O = 64, H = 256, W = 256, OH = (H - 1) * 2 - 2 + 3 + 1 + 1, OW = (W - 1) * 2 - 2 + 3 + 1 + 1
//@ check   B = 2, C = 35, O = 40, H = 5, W = 7, OH = (H - 1) * 2 - 2 + 3 + 1 + 1, OW = (W - 1) * 2 - 2 + 3 + 1 + 1
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 4, 4] ~ uniform(-0.031, 0.031)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  transposed<1, 2, 2, 0, 1, 1, 1, 1, 1, 1, 4, 4, 1><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, 1, H, W, 1, OH, OW)

//@ task    transposed_wide_groups_2d
//@ torch   Y = F.conv_transpose2d(X, weight, stride=2, padding=1, groups=2)
//@ size    B = 16, C = 128, O = 128, H = 64, W = 64, OH = 2 * H, OW = 2 * W
//@ check   B = 2, C = 70, O = 80, H = 7, W = 6
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O / 2, 4, 4] ~ uniform(-0.031, 0.031)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  transposed<1, 2, 2, 0, 1, 1, 1, 1, 1, 1, 4, 4, 2><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, Y, B, C, O, 1, H, W, 1, OH, OW)
