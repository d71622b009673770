"""The masked distribution, and threads that share a batch."""

import numpy as np
import torch

from pigenv.train.network import Mlp, Workers, entropy_of, masked_log_probabilities


def test_entropy_is_over_legal_actions_alone():
    """It is that of the softmax over the legal logits, computed apart; a forced move has none."""
    generator = np.random.default_rng(3)
    logits = generator.normal(size=(50, 7)).astype(np.float32) * 4
    masks = generator.random((50, 7)) < 0.4
    masks[:, 2] = True
    masks[0] = np.arange(7) == 2
    found = entropy_of(masked_log_probabilities(torch.from_numpy(logits), torch.from_numpy(masks))).numpy()
    for row in range(50):
        legal = logits[row, masks[row]].astype(float)
        p = np.exp(legal - legal.max())
        p /= p.sum()
        assert np.isclose(found[row], -(p * np.log(p)).sum(), atol=1e-5)
    assert 0 <= found[0] < 1e-30


def test_illegal_logits_get_no_gradient():
    """Neither the log-probability of a legal action nor the entropy moves the logit of an illegal one."""
    logits = torch.randn(20, 6, generator=torch.Generator().manual_seed(1), requires_grad=True)
    masks = torch.ones(20, 6, dtype=torch.bool)
    masks[:, 4] = False
    logs = masked_log_probabilities(logits, masks)
    (gradient,) = torch.autograd.grad((logs[:, 1] + entropy_of(logs)).sum(), logits)
    assert (gradient[:, 4] == 0).all()
    assert (gradient[:, :4] != 0).any()
    assert torch.isfinite(gradient).all()


def test_a_network_is_its_layers():
    """Its outputs are those of torch's own layers with the same weights; taken out and put back they are the same."""
    network = Mlp(5, [8, 6], 3, torch.Generator().manual_seed(0))
    names = ["a", "b", "c"]
    tensors = network.tensors(names)
    layers = [torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3)]
    for name, layer in zip(names, layers[::2], strict=True):
        layer.load_state_dict({kind: torch.from_numpy(tensors[f"{name}.{kind}"]) for kind in ("weight", "bias")})
    inputs = torch.rand(11, 5)
    assert torch.allclose(network(inputs), torch.nn.Sequential(*layers)(inputs), atol=1e-6)


def test_workers_share_a_batch():
    """Each gets its share, in order and with nothing left out, however many there are."""
    for count in (1, 2, 3):
        workers = Workers(count)
        shares = workers.run(lambda share: list(range(share.start, share.stop)), 10)
        workers.close()
        assert len(shares) == count
        assert [each for share in shares for each in share] == list(range(10))
