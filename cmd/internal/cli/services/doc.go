// Package services is the command service: it has systemd run an agent's folder, with a unit that leaves the agent
// little more than its folder and the network.
//
// A user gets a user unit; root gets a system unit that runs as the owner of the folder. The unit in sma.service is the
// only template, also for the unit of the Debian package. Commands of the model and MCP servers work under it, in their
// own sandbox; without them it can be tighter. Only units that this package wrote are changed or removed.
package services
