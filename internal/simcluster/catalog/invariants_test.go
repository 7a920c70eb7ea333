package catalog

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// checkInvariants checks that chunks cover the key space without gaps or overlaps,
// versions are unique, config.chunks equals the tables, every document is on its owner,
// and any other copy is a known orphan.
func (p *fixture) checkInvariants() {
	p.t.Helper()
	p.c.Mu.RLock()
	defer p.c.Mu.RUnlock()
	stored := make(map[string]string)
	for _, d := range p.c.Config.Coll("config", "chunks").All() {
		stored[d.Lookup("_id").String()] = d.String()
	}
	total := 0
	for _, r := range p.c.tables {
		total += r.Len()
		p.checkCoverage(r, stored)
		p.checkPlacement(r)
	}
	expect.That(p.t, total == len(stored), "%d chunks in tables, %d in config.chunks", total, len(stored))
}

func (p *fixture) checkCoverage(r *Routing, stored map[string]string) {
	p.t.Helper()
	at := r.pattern.min()
	seen := make(map[bson.Timestamp]bool)
	counts := make(map[string]int)
	for _, ch := range r.chunks {
		if compareKeys(ch.Min, at) != 0 || compareKeys(ch.Min, ch.Max) >= 0 {
			p.t.Fatalf("%s: chunk %s does not follow %s", r.NS, rangeText(ch.Min, ch.Max), text(at))
		}
		if seen[ch.Version] || older(r.version, ch.Version) {
			p.t.Fatalf("%s: version %v twice or beyond %v", r.NS, ch.Version, r.version)
		}
		if d := encode(r.document(ch)); stored[d.Lookup("_id").String()] != d.String() {
			p.t.Fatalf("%s: config.chunks differs:\n %s\n %s", r.NS, stored[d.Lookup("_id").String()], d)
		}
		seen[ch.Version] = true
		counts[ch.Shard]++
		at = ch.Max
	}
	if compareKeys(at, r.pattern.max()) != 0 {
		p.t.Fatalf("%s ends at %s", r.NS, text(at))
	}
	must.That(p.t, fmt.Sprint(counts) == fmt.Sprint(r.counts), "%s: counts %v, really %v", r.NS, r.counts, counts)
}

func (p *fixture) checkPlacement(r *Routing) {
	p.t.Helper()
	owned := make(map[string]int)
	copies := make(map[string]bool)
	for _, s := range p.c.ShardNames() {
		coll := p.c.data(s, r.NS)
		if coll == nil {
			continue
		}
		strays := 0
		for _, d := range coll.All() {
			if r.Owns(s, d) {
				owned[idKey(d)]++
			} else {
				strays++
				copies[idKey(d)] = true
			}
		}
		if n := p.c.Orphans(r.NS, s); n != strays {
			p.t.Fatalf("%s on %s: %d strays, %d known orphans", r.NS, s, strays, n)
		}
	}
	for id, n := range owned {
		must.That(p.t, n == 1, "%s: document %q is owned %d times, want 1", r.NS, id, n)
	}
}

func (p *fixture) documents(ns string) (n int) {
	p.c.Mu.RLock()
	defer p.c.Mu.RUnlock()
	r := p.c.tables[ns]
	for _, s := range p.c.ShardNames() {
		if coll := p.c.data(s, ns); coll != nil {
			for _, d := range coll.All() {
				if r.Owns(s, d) {
					n++
				}
			}
		}
	}
	return n
}
