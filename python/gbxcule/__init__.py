"""gbxcule: a swarm of Game Boys for reinforcement learning, and the oracles that hold it to the truth."""
