package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// refine is the lasting remedy, with what Yorkie's own commands need of it.
func (ev *evaluation) refine(p *Problem, c *topology.Collection) {
	key := keyText(c.Key, "_id")
	atomic := ev.Profile.Name == profile.Yorkie().Name
	first := readCommand("db.version()", "refine.version", "must be 4.4 or later")
	if atomic {
		first = readCommand("db.version()",
			"refine.yorkie", "must be 7.0 or later on every member; before that, Yorkie's findAndModify fails once the project spans shards")
	}
	switch {
	case !ev.release().AtLeast(4, 4, 0):
		p.Remedy.WhyNot = message.New("refine.before44",
			"The lasting remedy is a longer shard key, which needs MongoDB 4.4; a plan can only give the "+
				"project more room.")
		return
	case atomic && !ev.release().AtLeast(7, 0, 0):
		p.Remedy.WhyNot = message.New("refine.before70",
			"The lasting remedy is the shard key {key}, but not yet: Yorkie changes documents with "+
				"findAndModify by project_id and not by the whole key, which fails before MongoDB 7.0 once "+
				"the project spans shards. This is {version}; until then a plan can only give the project "+
				"more room.",
			message.Text("key", key), message.Text("version", ev.Table.ServerInfo.Version))
		p.Remedy.Commands = []Command{
			first,
			readCommand(collection(c.NS)+".getIndexes()",
				"refine.indexes", "the index of the new key must not be partial or sparse"),
		}
		return
	}
	p.Remedy.WhyNot = message.New("refine.noAction",
		"The lasting remedy is a longer shard key, so that the project can be split. These are the commands.")
	p.Remedy.Commands = []Command{
		first,
		readCommand(collection(c.NS)+".getIndexes()",
			"refine.indexes", "the index of the new key must not be partial or sparse"),
		writeCommand(collection(c.NS)+".createIndex("+key+")",
			"refine.index", "the longer key needs its index first; wait until it is built"),
		writeCommand(admin("refineCollectionShardKey: %s, key: %s", sanitize.Quoted(string(c.NS)), key),
			"refine.refine", "changes the key; heavy with very many chunks, and cannot be undone"),
	}
}

// widerKey are the commands that let a chunk of one value be cut.
func (ev *evaluation) widerKey(c *topology.Collection) []Command {
	if c.Key.Hashed() >= 0 && c.Key.Len() == 1 {
		return nil // one document's rows: no further field of the profile's
	}
	if !ev.release().AtLeast(4, 4, 0) {
		return nil
	}
	wider := keyText(c.Key, "_id")
	return []Command{
		readCommand("db.version()", "refine.version", "must be 4.4 or later"),
		writeCommand(collection(c.NS)+".createIndex("+wider+")",
			"refine.index", "the longer key needs its index first; wait until it is built"),
		writeCommand(admin("refineCollectionShardKey: %s, key: %s", sanitize.Quoted(string(c.NS)), wider),
			"refine.refine", "changes the key; heavy with very many chunks, and cannot be undone"),
	}
}
