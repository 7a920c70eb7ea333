package topology

import (
	"cmp"
	"context"
	"slices"

	"shardboard/internal/fault"
	"shardboard/internal/natural"
)

// diskTries is how many databases are asked for at most in one turn.
const diskTries = 3

// disks reads how full every shard's disk is: one command a minute as long as
// one database is on all shards and may be asked about.
func (s *surveyor) disks(ctx context.Context) {
	t := s.w.Table()
	if len(t.Shards) == 0 {
		return
	}
	got := make(map[string]Disk, len(t.Shards))
	wanted := t.Shards
	var failure error
	answered := false
	for _, db := range diskDatabases(t, s.diskDB) {
		read, cancel := context.WithTimeout(ctx, s.w.o.Timeout)
		some, err := s.w.src.Disks(read, db, wanted)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if failure == nil {
				failure = err
			}
			if fault.Of(err) != fault.Forbidden {
				break // the next one would be answered no better
			}
			continue
		}
		if !answered {
			answered, s.diskDB = true, db
		}
		wanted = slices.Clone(wanted)
		wanted = slices.DeleteFunc(wanted, func(shard Shard) bool {
			d, ok := some[shard.Name]
			if ok {
				got[shard.Name] = d
			}
			return ok && d.Used.Reason != "noDisk" // another database may be on it
		})
		if len(wanted) == 0 {
			s.diskDB = db
			break
		}
	}
	if answered {
		failure = nil
	}
	s.publishDisks(got, failure)
}

// publishDisks keeps what was known of a shard that did not answer. Subscribers
// hear of it when it looks different, not when some bytes were written.
func (s *surveyor) publishDisks(got map[string]Disk, failure error) {
	was := s.w.Table().Health[PartDisks]
	s.w.publish(func(t *Table) bool {
		loud := t.note(PartDisks, failure)
		if failure != nil {
			return loud
		}
		next := make(map[string]Disk, len(t.Shards))
		for _, shard := range t.Shards {
			d, ok := got[shard.Name]
			if old := t.Disks[shard.Name]; !d.Known() && old.Known() {
				d, ok = old, true
			}
			if ok {
				next[shard.Name] = d
			}
		}
		t.Disks = next
		if !loud && sameDisks(s.told, next) {
			return false
		}
		s.told = next
		return true
	})
	s.w.logHealth(PartDisks, was, s.w.Table().Health[PartDisks])
}

// diskDatabases are the databases to ask about, the likeliest first: every
// shard answers, and one that has nothing of the database does not say how large
// its disk is. So first comes the one that served last time, then those that
// are on most shards; config is on all, and seldom permitted.
func diskDatabases(t *Table, last string) []string {
	on := map[string]map[string]bool{}
	add := func(db, shard string) {
		if IsServerDatabase(db) || db == "" {
			return
		}
		if on[db] == nil {
			on[db] = map[string]bool{}
		}
		on[db][shard] = true
	}
	for _, d := range t.Databases {
		add(d.Name, d.Primary)
	}
	for _, c := range t.Collections {
		for shard := range c.Chunks.CountByShard() {
			add(c.NS.Database(), shard)
		}
	}
	names := make([]string, 0, len(on)+1)
	for db := range on {
		names = append(names, db)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(bit(b == last)-bit(a == last), len(on[b])-len(on[a]), natural.Compare(a, b))
	})
	return append(names[:min(len(names), diskTries-1)], "config")
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
