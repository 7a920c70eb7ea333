package web

import (
	"slices"
	"strconv"
	"time"

	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// notices collects what somebody should know. Urgent is what needs a person
// now because nothing in the cluster will repair it.
type notices struct{ list []templates.Attention }

func (n *notices) add(urgent bool, code, subject, url string, args ...string) {
	n.list = append(n.list, templates.Attention{
		Key: code + " " + subject, Urgent: urgent, URL: url,
		Text: words.T("attention."+code, args...), Advice: words.T("attention."+code+".advice", args...),
	})
}

// attention lists everything that needs a look, most urgent first.
func attention(v View) []templates.Attention {
	var n notices
	n.parts(v)
	n.shards(v)
	n.disks(v)
	n.balancer(v)
	n.collections(v)
	n.zones(v)
	n.moves(v)
	n.routers(v)
	n.layouts(v)
	slices.SortStableFunc(n.list, func(a, b templates.Attention) int {
		switch {
		case a.Urgent == b.Urgent:
			return 0
		case a.Urgent:
			return -1
		}
		return 1
	})
	return n.list
}

// parts: what cannot be read, or has not been for a while.
func (n *notices) parts(v View) {
	lost := v.Table.Health[topology.PartRouting].Err != nil
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartDatabases, topology.PartZones, topology.PartSettings,
		topology.PartRouters, topology.PartBalancer, topology.PartEvents, topology.PartSizes, topology.PartCollections, topology.PartDisks} {
		s := partState(v, p)
		switch name := words.T("part." + string(p)); s.Code {
		case "denied":
			n.add(false, "denied", string(p), "", "part", name, "privilege", v.Table.Health[p].Privilege)
		case "stale", "failed":
			if lost && p != topology.PartRouting {
				continue // one cause, told once
			}
			n.add(p == topology.PartRouting, "stale", string(p), "", "part", name, "why", s.Detail)
		}
	}
	if s := projectsState(v); s.Code == "denied" {
		n.add(false, "denied", "projects", "/projects", "part", words.T("part.projects"), "privilege", v.Dir.Health().Privilege)
	}
}

// shards: draining needs a balancer that runs.
func (n *notices) shards(v View) {
	for _, s := range v.Table.Shards {
		if !s.Draining {
			continue
		}
		if v.Table.Balancer.Known && !v.Table.Balancer.Enabled() {
			n.add(true, "drainstuck", s.Name, shardURL(s.Name), "shard", s.Name)
		} else {
			n.add(false, "draining", s.Name, shardURL(s.Name), "shard", s.Name)
		}
	}
}

func (n *notices) balancer(v View) {
	b := v.Table.Balancer
	switch {
	case !b.Known:
	case !b.Enabled():
		n.add(false, "balanceroff", "", "")
	case b.Mode == "autoSplitOnly":
		n.add(false, "splitonly", "", "")
	}
}

// bigUnsharded is the part of a shard's data from which an unsharded
// collection is worth a word: it cannot be moved away in pieces.
const bigUnsharded = 0.2

func (n *notices) collections(v View) {
	for _, c := range v.Table.Collections {
		if !sharded(c) {
			continue
		}
		ns, url := string(c.NS), collectionURL(c.NS)
		if j := c.Chunks.Jumbo(); j > 0 {
			n.add(false, "jumbo", ns, url+"?jumbo=1", "ns", ns, "n", strconv.Itoa(j))
		}
		if c.MigrationsBlocked {
			n.add(true, "blocked", ns, url, "ns", ns)
		}
		if c.NoBalance {
			n.add(false, "nobalance", ns, url, "ns", ns)
		}
		if c.Resharding {
			n.add(false, "resharding", ns, url, "ns", ns)
		}
	}
	l := loadOf(v.Table)
	for _, ns := range v.Table.Unsharded {
		shard := v.Table.Primary(ns.Database())
		i := slices.IndexFunc(l.shards, func(r templates.ShardRef) bool { return r.Name == shard })
		f := v.Table.SizeOn(ns, shard).Bytes
		if i < 0 || !f.Known || !l.bytes[i].Known || f.Value < 1<<20 {
			continue
		}
		if part := share(f.Value, l.bytes[i].Value); part >= bigUnsharded {
			n.add(false, "unsharded", string(ns), "/collections", "ns", string(ns), "shard", shard,
				"bytes", templates.Bytes(f.Value), "share", templates.Share(part))
		}
	}
}

func (n *notices) zones(v View) {
	carried := zoneShards(v.Table)
	said := map[string]bool{}
	for _, z := range v.Table.Zones {
		if len(carried[z.Zone]) == 0 && !said[z.Zone] {
			said[z.Zone] = true
			n.add(true, "zoneless", z.Zone, "/zones", "zone", z.Zone)
		}
	}
	for _, c := range v.Table.Collections {
		if !sharded(c) {
			continue
		}
		wrong, cut := zoneProblems(v.Table, c, carried)
		if wrong > 0 {
			stuck := v.Table.Balancer.Known && !v.Table.Balancer.Enabled()
			n.add(stuck, "zonewrong", string(c.NS), "/zones", "ns", string(c.NS), "n", strconv.Itoa(wrong))
		}
		if cut > 0 {
			n.add(false, "zonecut", string(c.NS), "/zones", "ns", string(c.NS), "n", strconv.Itoa(cut))
		}
	}
}

// manyFailures is how many failed migrations in an hour are more than the
// ordinary lost race.
const manyFailures = 3

func (n *notices) moves(v View) {
	if _, failed := recentMoves(v, time.Hour); failed >= manyFailures {
		n.add(false, "failures", "", "/activity?failed=1", "n", strconv.Itoa(failed))
	}
}

// A mongos pings every 10 s and its row stays for ever: one that was silent
// for a few minutes but not for days has probably died.
const (
	routerSilent  = 3 * time.Minute
	routerGoneFor = 48 * time.Hour
)

func (n *notices) routers(v View) {
	versions := map[string]bool{}
	for _, r := range v.Table.Routers {
		silent := v.Now.Sub(r.Ping)
		if silent < routerSilent {
			versions[r.Version] = true
			continue
		}
		if silent < routerGoneFor && !v.Table.Stale(topology.PartRouters, v.Now) {
			n.add(false, "router", r.Host, "", "host", r.Host, "at", r.Ping.UTC().Format("Jan 2 15:04 UTC"))
		}
	}
	if len(versions) > 1 {
		var list string
		for _, ver := range sortedKeys(versions) {
			if list != "" {
				list += ", "
			}
			list += ver
		}
		n.add(false, "versions", "", "", "versions", list)
	}
}
