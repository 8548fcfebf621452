"""A client for the relay protocol that checks every frame of the relay. relay_client.py says more."""
