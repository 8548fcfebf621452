"""A page of metrics as Prometheus' own parser reads it."""
from prometheus_client.parser import text_string_to_metric_families


def write(_folder, _seed, _mutants):
    pass


def check(folder) -> str:
    families = {family.name: family for family in text_string_to_metric_families((folder / "metrics.out").read_text())}
    assert set(families) == {"boardrelay_connections", "boardrelay_refusals", "boardrelay_delivery_seconds"}, set(families)
    connections = families["boardrelay_connections"]
    assert connections.type == "gauge" and connections.samples[0].value == 3
    assert connections.documentation == 'Links, "logged in" or not.\nA \\ line'
    refusals = families["boardrelay_refusals"]
    assert refusals.type == "counter" and len(refusals.samples) > 30 and all(sample.value == 7 for sample in refusals.samples)
    assert all(sample.labels["text"].startswith('a "b" \\ \n ') for sample in refusals.samples)
    delivery = {(sample.name, sample.labels.get("le")): sample.value for sample in families["boardrelay_delivery_seconds"].samples}
    name = "boardrelay_delivery_seconds"
    assert [delivery[(f"{name}_bucket", bound)] for bound in ["0.001", "0.01", "0.1", "1", "+Inf"]] == [2, 2, 3, 3, 4], delivery
    assert delivery[(f"{name}_count", None)] == 4 and abs(delivery[(f"{name}_sum", None)] - 5.0215) < 1e-9
    return f"prometheus-client: {len(families)} families"
