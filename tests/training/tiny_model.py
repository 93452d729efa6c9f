# SPDX-License-Identifier: Apache-2.0
"""tiny_model.py DATA.jsonl FOLDER: a model of about a million parameters, untrained, with a tokenizer of the data's words."""
import json
import pathlib
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

CHAT = ("{% for m in messages %}{{ m['role'] }}\n{{ m['content'] }}{% if m['role'] == 'assistant' %}<end>{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}assistant\n{% endif %}")


def main(data, folder):
    rows = [json.loads(line) for line in pathlib.Path(data).read_text().splitlines()]
    texts = [message["content"] for row in rows for message in row["prompt"] + row["completion"]]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=1024, special_tokens=["<pad>", "<end>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<end>")
    fast.chat_template = CHAT
    fast.save_pretrained(folder)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(fast), hidden_size=128, intermediate_size=344, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=4,
                                         max_position_embeddings=4096, tie_word_embeddings=True, pad_token_id=0, eos_token_id=1, bos_token_id=None))
    model.save_pretrained(folder)
    print(sum(weight.numel() for weight in model.parameters()))


if __name__ == "__main__":
    main(*sys.argv[1:])
