package actions

import (
	"slices"
	"strings"
	"time"

	"shardboard/internal/message"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// checkWhatMoves says how many collections move and how big they are.
func (d *draftBuilder) checkWhatMoves(db string) (out findings) {
	source := d.fromTable(topology.PartCollections)
	facts := []message.Fact{message.Text("db", db), message.Count("n", len(d.wholes))}
	if d.s.Table.Unsharded == nil {
		out.warn("unsharded", source, message.New("unsharded.unlisted",
			"It is not known which collections of {db} are not sharded, because they could not be listed. All of them move.", facts...))
		return out
	}
	bytes, unknown := d.knownBytes()
	facts = append(facts, message.Bytes("bytes", bytes), message.Count("unknown", unknown))
	switch {
	case len(d.wholes) == 0:
		out.pass("unsharded", source, message.New("unsharded.none",
			"{db} has no unsharded collection that would move: only the place of new ones changes.", facts...))
	case unknown > 0:
		out.warn("unsharded", source, message.New("unsharded.unknown",
			"Collections that move: {n}. The known sizes are {bytes} together; not known: {unknown}.", facts...))
	default:
		out.pass("unsharded", source, message.New("unsharded.known",
			"Collections that move: {n}, with {bytes} together.", facts...))
	}
	return out
}

// checkWholeRecipient checks that the shard may receive collections.
func (d *draftBuilder) checkWholeRecipient(to string) (out findings) {
	if d.isDraining(to) {
		out.block("recipient", d.fromTable(topology.PartShards), message.New("recipient.drainingWhole",
			"{shard} is draining. Choose another shard.", message.Shard("shard", to)))
		return out
	}
	out.pass("recipient", d.fromTable(topology.PartShards), message.New("recipient.takesWhole",
		"{shard} is not draining.", message.Shard("shard", to)))
	return out
}

// checkCollectionRecipient warns about a draining shard. 8.0 moves a collection onto it, and neither the balancer nor
// the draining moves it off again.
func (d *draftBuilder) checkCollectionRecipient(ns topology.Namespace, to string) (out findings) {
	if !d.isDraining(to) {
		return d.checkWholeRecipient(to)
	}
	out.warn("recipient", d.fromTable(topology.PartShards), message.New("recipient.drainingCollection",
		"{shard} is draining. MongoDB moves {ns} there all the same, and then {shard} cannot be removed: the balancer does not move "+
			"an unsharded collection off again, another move-collection does.",
		message.Shard("shard", to), message.Namespace("ns", ns)))
	return out
}

func (d *plannedCluster) isDraining(shard string) bool {
	s := d.shard(shard)
	return s != nil && s.Draining
}

// checkWholeDisk checks that the data fits on the disk of the recipient, beside what it
// has of it already.
func (d *draftBuilder) checkWholeDisk(to string) (out findings) {
	comes := sum{at: d.s.Now}
	for _, m := range d.wholes {
		f := m.bytes
		if here := d.s.Table.SizeOn(m.ns, to).Bytes; f.Known && m.from == "" && here.Known {
			f.Value = max(0, f.Value-here.Value)
		}
		comes.add(f)
	}
	if len(d.wholes) > 0 {
		out.add(d.checkDiskSpace([]string{to}, incoming{bytes: comes.figure()}))
	}
	return out
}

// checkDatabaseBusy blocks while a command changes the database or one of its collections.
func (d *draftBuilder) checkDatabaseBusy(db string) (out findings) {
	act := d.s.Activity
	if !act.Known {
		return // the check "activity" says so
	}
	for _, c := range d.s.Table.Collections {
		if c.NS.Database() == db && c.Resharding {
			out.block("competing", d.fromTable(topology.PartRouting), message.New("competing.resharding",
				"{ns} is being resharded: all of its chunks will be replaced.", message.Namespace("ns", c.NS)))
			return out
		}
	}
	for _, o := range act.DDL {
		if o.NS.Database() == db {
			out.block("competing", d.fromCluster(), message.New("competing.ddl",
				"{what} on {ns} has been running for {age} and conflicts with this plan.",
				message.Namespace("ns", o.NS), message.Text("what", o.What), message.Duration("age", o.For.Truncate(time.Second))))
			return out
		}
	}
	out.pass("competing", d.fromCluster(), message.New("competing.noneInDatabase",
		"No other change of {db} or its collections is running.", message.Text("db", db)))
	return out
}

// checkWritesLost says what happens to reads and writes of clients meanwhile. The manual
// forbids both in every release. From 5.0 on, the server refuses writes to what moves with
// MovePrimaryInProgress (319); from 7.0 on, the new primary brings the move to an end after a failover.
func (d *draftBuilder) checkWritesLost(db string) (out findings) {
	if d.s.Table.Unsharded != nil && len(d.wholes) == 0 {
		return out
	}
	facts := []message.Fact{message.Text("db", db)}
	var text message.Message
	switch r := d.s.Release; {
	case !r.AtLeast(5, 0, 0):
		text = message.New("writes-lost.unguarded",
			"Before MongoDB 5.0, nothing keeps clients from writing to the unsharded collections of {db} while they move, and such "+
				"writes can be lost. Stop all clients of these collections until the run has ended.", facts...)
	case !r.AtLeast(7, 0, 0):
		text = message.New("writes-lost.refused",
			"While the unsharded collections of {db} move, this release refuses writes to them (MovePrimaryInProgress, 319). "+
				"Reads and writes around the change of the primary can still miss data or be lost, and after a failover of the old "+
				"primary the move does not continue. Stop all clients of these collections until the run has ended.", facts...)
	default:
		text = message.New("writes-lost.blocked",
			"While the unsharded collections of {db} move, writes to them fail (MovePrimaryInProgress, 319). Since MongoDB 7.0 a new "+
				"primary completes the move after a failover, or takes it back. MongoDB’s manual still forbids reads and "+
				"writes of these collections meanwhile: stop their clients until the run has ended.", facts...)
	}
	out.warn("writes-lost", d.fromRule(), text)
	return out
}

// checkNames says that leftovers on the recipient cannot be seen: a mongos shows only
// what the primary shard has.
func (d *draftBuilder) checkNames(db, to string) (out findings) {
	out.warn("name-conflicts", d.fromRule(), message.New("name-conflicts.unseen",
		"If {shard} has leftovers of an unsharded collection of {db} from earlier, the command fails. A mongos does not show such "+
			"leftovers, so this cannot be checked.", message.Text("db", db), message.Shard("shard", to)))
	return out
}

// routerSilence is how long after the newest ping of any mongos one counts as silent.
// Each writes its ping every ten seconds.
const routerSilence = time.Minute

// routersNamed is how many mongos a check names.
const routersNamed = 8

// checkRouters lists the mongos, which have to learn the new primary. Since 4.4 they do so
// by themselves, when a shard refuses their outdated version of the database.
func (d *draftBuilder) checkRouters() (out findings) {
	source := d.fromTable(topology.PartRouters)
	if len(d.s.Table.Routers) == 0 {
		out.warn("routers", source, message.New("routers.unknown",
			"The list of mongos is not known. Each has to learn the new primary; flushRouterConfig does that for the one it is sent to."))
		return out
	}
	var newest time.Time
	for _, r := range d.s.Table.Routers {
		if r.Ping.After(newest) {
			newest = r.Ping
		}
	}
	var live, silent []string
	var last time.Time
	for _, r := range d.s.Table.Routers {
		if newest.Sub(r.Ping) <= routerSilence {
			live = append(live, r.Host)
			continue
		}
		silent = append(silent, r.Host)
		if r.Ping.After(last) {
			last = r.Ping
		}
	}
	facts := []message.Fact{message.Text("hosts", firstNames(live)), message.Time("ping", newest), message.Text("silent", firstNames(silent)),
		message.Time("last", last)}
	if len(silent) > 0 {
		out.warn("routers", source, message.New("routers.silent",
			"These mongos learn the new primary by themselves at their next request: {hosts} (last ping {ping}). Silent, the newest since "+
				"{last}: {silent}. If one of these still runs, send it flushRouterConfig after the run: the command works only on the "+
				"mongos that it is sent to.", facts...))
		return out
	}
	out.pass("routers", source, message.New("routers.live",
		"These mongos learn the new primary by themselves at their next request: {hosts} (last ping {ping}). If one of them still uses "+
			"the old primary after the run, send flushRouterConfig to it: the command works only on the mongos that it is sent to.", facts...))
	return out
}

func firstNames(names []string) string {
	if more := len(names) - routersNamed; more > 0 {
		return strings.Join(names[:routersNamed], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// checkProfile names the cluster-wide collections of the profile that move.
func (d *draftBuilder) checkProfile(db string) (out findings) {
	if d.s.Profile == nil || !slices.Contains(d.s.Profile.Match(d.s.Table), db) {
		return out
	}
	var moving []string
	leads := false
	for _, m := range d.wholes {
		if c, ok := d.s.Profile.Collection(m.ns.Collection()); ok && (c.Scope == profile.ScopeCluster || c.Expected == "") {
			moving = append(moving, c.Name)
			leads = leads || c.Name == "clusternodes"
		}
	}
	if len(moving) == 0 {
		return out
	}
	slices.Sort(moving)
	facts := []message.Fact{message.Text("profile", d.s.Profile.Name), message.Text("collections", strings.Join(moving, ", "))}
	text := message.New("profile.moves",
		"Collections of the profile {profile} move: {collections}. Its servers cannot write them meanwhile.", facts...)
	if d.s.Profile.Name == "yorkie" {
		text = message.New("profile.yorkie",
			"Collections of Yorkie move: {collections}. Meanwhile Yorkie cannot create or change projects, users and members.", facts...)
		if leads {
			text = message.New("profile.yorkieLeader", "Collections of Yorkie move: {collections}. Meanwhile Yorkie cannot create or "+
				"change projects, users and members, and its leader cannot renew its lease in clusternodes: housekeeping pauses until "+
				"a server is leader again.", facts...)
		}
	}
	out.warn("profile", d.fromTable(topology.PartCollections), text)
	return out
}
