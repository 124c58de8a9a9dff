"""How long tests wait for what another thread, process or page does. A busy machine may take long; only what never comes fails."""

PATIENCE = 300.0  # [s]
