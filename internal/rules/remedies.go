package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Plans and commands that help with problems of several rules.

// fewPlans bounds the plans of one problem.
const fewPlans = 3

// plan is a plan with its arguments as pairs of name and value.
func plan(kind string, text message.Message, args ...string) Plan {
	p := Plan{Kind: kind, Args: map[string]string{}, Text: text}
	for i := 0; i+1 < len(args); i += 2 {
		p.Args[args[i]] = args[i+1]
	}
	return p
}

// commandsOnly says why a problem has commands and no plan.
func commandsOnly() message.Message {
	return message.New("noAction", "shardboard cannot plan this. These are the commands.")
}

func turnBalancerOn() Plan {
	return plan("balancer-on", message.New("balancer-on", "Turn the balancer on."))
}

func startBalancer() Command {
	return writeCommand("sh.startBalancer()", "off.start", "turns the balancer on")
}

func balancerOnRemedy() Remedy {
	return Remedy{Plans: []Plan{turnBalancerOn()}, Commands: []Command{startBalancer()}}
}

// balanceCollection switches the balancing of a collection on.
func balanceCollection(ns string) Remedy {
	return Remedy{
		Plans: []Plan{plan("balance-collection",
			message.New("balance-collection", "Let the balancer move chunks of {ns} again.", message.Namespace("ns", ns)),
			"ns", ns, "on", "true")},
		Commands: []Command{
			writeCommand("sh.enableBalancing("+sanitize.Quoted(ns)+")", "imbalance.enable", "lets the balancer move its chunks"),
		},
	}
}

func allowMigrations(ns string) Command {
	return writeCommand(admin("setAllowMigrations: %s, allowMigrations: true", sanitize.Quoted(ns)),
		"imbalance.allow", "allows moves")
}

// releaseUnknown is why there is no remedy where the commands depend on the release.
func releaseUnknown() message.Message {
	return message.New("remedy.noRelease", "What helps depends on the MongoDB version of the cluster, which is not known.")
}

// allowMoves allows moves of a collection again, after other commands. Before 5.0 there is
// no command for it in every release.
func (ev *evaluation) allowMoves(ns string, first ...Command) Remedy {
	r := Remedy{Commands: append(first, allowMigrations(ns))}
	if !ev.release().Known() {
		r.WhyNot = releaseUnknown()
		return r
	}
	if !ev.release().AtLeast(5, 0, 0) {
		r.WhyNot = message.New("blocked.allow",
			"Allow moves again when the reason for blocking them is gone. shardboard cannot plan this before MongoDB 5.0.")
		return r
	}
	r.Plans = []Plan{plan("allow-migrations", message.New("allow-migrations",
		"Allow moves of {ns} again, when the reason for blocking them is gone.", message.Namespace("ns", ns)), "ns", ns, "on", "true")}
	return r
}

// splitInTwo splits a chunk in the middle of its data.
func splitInTwo(c *topology.Collection, ch topology.Chunk) Plan {
	return plan("split", message.New("split", "Split a chunk of {ns} on {shard} in two.",
		message.Namespace("ns", c.NS), message.Shard("shard", ch.Shard)),
		"ns", string(c.NS), "bounds", bounds(c, ch), "parts", "2")
}

func showStatus() Command {
	return readCommand("sh.status()", "draining.look", "look at shards, zones and flags")
}

func balancerRound() Command {
	return readCommand("sh.isBalancerRunning()", "draining.round", "a balancer round should be running")
}

// removalProgress reads what is left on a draining shard. removeShard must not be used for
// that: sent to a shard that has become empty, it removes the shard.
func removalProgress(shard string) []Command {
	config := `db.getSiblingDB("config")`
	return []Command{
		readCommand(config+".chunks.countDocuments({shard: "+sanitize.Quoted(shard)+"})", "draining.progress",
			"chunks that are left; do not repeat removeShard to see that, because it removes the shard when it is empty"),
		readCommand(config+".databases.find({primary: "+sanitize.Quoted(shard)+"}, {_id: 1})", "draining.primaries",
			"databases that have it as primary shard"),
	}
}

func listRouters() Command {
	return readCommand(`db.getSiblingDB("config").mongos.find().sort({ping: -1})`,
		"router.list", "all mongos that ever pinged, the newest first")
}
