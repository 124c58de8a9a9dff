"""Teams of agents (people and mobile manipulators) that carry an object together."""
