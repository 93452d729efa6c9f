// SPDX-License-Identifier: Apache-2.0
// Attention in float32: in one call and spelt out, with a mask, with wide heads, with one head.

//@ task    attention
//@ torch   O = F.scaled_dot_product_attention(Q, K, V)
//@ size    B = 64, T = 1024, H = 64
//@ check   B = 2, T = 70, H = 24
//@ input   Q: float32[B, T, H]
//@ input   K: float32[B, T, H]
//@ input   V: float32[B, T, H]
//@ output  O: float32[B, T, H]
//@ launch  attention<false><<<ceil_div(B * T * H, 256), 256>>>(Q, K, V, O, B, T, H)

//@ task    spelt_attention
//@ torch   O = torch.matmul(torch.softmax(torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(H), dim=-1), V)
//@ size    B = 64, T = 1024, H = 64
//@ check   B = 2, T = 70, H = 24
//@ input   Q: float32[B, T, H]
//@ input   K: float32[B, T, H]
//@ input   V: float32[B, T, H]
//@ output  O: float32[B, T, H]
//@ launch  attention<false><<<ceil_div(B * T * H, 256), 256>>>(Q, K, V, O, B, T, H)

//@ task    masked_attention
//@ torch   O = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
//@ size    B = 16, T = 4096, H = 64
//@ check   B = 2, T = 70, H = 24
//@ input   Q: float32[B, T, H]
//@ input   K: float32[B, T, H]
//@ input   V: float32[B, T, H]
//@ output  O: float32[B, T, H]
//@ launch  attention<true><<<ceil_div(B * T * H, 256), 256>>>(Q, K, V, O, B, T, H)

//@ task    wide_attention
//@ torch   O = F.scaled_dot_product_attention(Q, K, V)
//@ size    B = 32, T = 1024, H = 128
//@ check   B = 2, T = 70, H = 120
//@ input   Q: float32[B, T, H]
//@ input   K: float32[B, T, H]
//@ input   V: float32[B, T, H]
//@ output  O: float32[B, T, H]
//@ launch  attention<false><<<ceil_div(B * T * H, 256), 256>>>(Q, K, V, O, B, T, H)

//@ task    single_attention
//@ torch   O = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
//@ size    B = 1, T = 2048, H = 64
//@ check   B = 1, T = 70, H = 24
//@ input   Q: float32[B, T, H]
//@ input   K: float32[B, T, H]
//@ input   V: float32[B, T, H]
//@ output  O: float32[B, T, H]
//@ launch  attention<true><<<ceil_div(B * T * H, 256), 256>>>(Q, K, V, O, B, T, H)
