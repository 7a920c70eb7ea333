package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// refine is the lasting remedy: a plan for a longer shard key, with the commands that it
// needs first. The plan checks the rest.
func (ev *evaluation) refine(p *Problem, c *topology.Collection) {
	longer, ok := ev.Profile.LongerKey(c)
	if !ok {
		return
	}
	key := longer.String()
	first := readCommand("db.version()", "refine.version", "must be 4.4 or later")
	if of, known := ev.Profile.Collection(c.NS.Collection()); known && !of.FoundByWhole(longer) {
		first = readCommand("db.version()", "refine.program", "must be 7.0 or later on every member; before that, findAndModify "+
			"without the whole key fails once the project is on several shards")
		if !ev.release().AtLeast(7, 0, 0) && ev.release().AtLeast(4, 4, 0) {
			p.Remedy.WhyNot = message.New("refine.before70",
				"The lasting remedy is the shard key {key}, but not yet: the program changes rows with "+
					"findAndModify by the project and not by the whole key, which fails before MongoDB 7.0 once "+
					"the project spans shards. This is {version}; until then a plan can only give the project "+
					"more room.",
				message.Text("key", key), message.Text("version", ev.Table.ServerInfo.Version))
			p.Remedy.Commands = []Command{first, indexesOf(c)}
			return
		}
	}
	if !ev.release().Known() {
		p.Remedy.WhyNot = releaseUnknown()
		return
	}
	if !ev.release().AtLeast(4, 4, 0) {
		p.Remedy.WhyNot = message.New("refine.before44",
			"The lasting remedy is a longer shard key, which needs MongoDB 4.4; a plan can only give the "+
				"project more room.")
		return
	}
	p.Remedy.Plans = append(p.Remedy.Plans, refinePlan(c.NS, longer))
	p.Remedy.Commands = preparing("refine-key", first, indexesOf(c), createIndex(c.NS, key))
}

func refinePlan(ns topology.Namespace, longer shardkey.Pattern) Plan {
	return plan("refine-key", message.New("refine-key",
		"Refine the shard key of {ns} to {key}, so that its chunks can be split further. It cannot be undone.",
		message.Namespace("ns", ns), message.Text("key", longer.String())), "ns", string(ns), "key", longer.JSON())
}

func reshardPlan(ns topology.Namespace, key shardkey.Pattern) Plan {
	return plan("reshard", message.New("reshard",
		"Reshard {ns} by {key}. It rewrites the collection; writes wait for seconds at its end.",
		message.Namespace("ns", ns), message.Text("key", key.String())), "ns", string(ns), "key", key.JSON())
}

func unshardPlan(ns topology.Namespace, to string) Plan {
	return plan("unshard-collection", message.New("unshard-collection", "Bring all of {ns} to {shard}. It rewrites the collection.",
		message.Namespace("ns", ns), message.Shard("shard", to)), "ns", string(ns), "to", to)
}

// preparing are commands that a kind of plan needs first.
func preparing(kind string, commands ...Command) []Command {
	for i := range commands {
		commands[i].Plan = kind
	}
	return commands
}

func indexesOf(c *topology.Collection) Command {
	return readCommand(collection(c.NS)+".getIndexes()", "refine.indexes", "the index of the new key must not be partial or sparse")
}

func createIndex(ns topology.Namespace, key string) Command {
	return writeCommand(collection(ns)+".createIndex("+key+")", "refine.index",
		"the longer key needs its index first; wait until it is built")
}

// widerKey adds to a remedy the plan and the commands that let a chunk of one value be cut.
func (ev *evaluation) widerKey(r *Remedy, c *topology.Collection) {
	if c.Key.Hashed() >= 0 && c.Key.Len() == 1 {
		return // one document's rows: no further field of the profile's
	}
	longer, ok := ev.Profile.LongerKey(c)
	if !ok || !ev.release().AtLeast(4, 4, 0) {
		return
	}
	r.Plans = append(r.Plans, refinePlan(c.NS, longer))
	r.Commands = append(r.Commands, preparing("refine-key", readCommand("db.version()", "refine.version", "must be 4.4 or later"),
		createIndex(c.NS, longer.String()))...)
}
