package topology

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
)

// Collection is one sharded collection in a table.
type Collection struct {
	Meta
	Highest Version
	Chunks  *ChunkMap
}

// Table is one immutable state of the cluster. Shards are in natural order of
// their names, so that their place and colour is what people expect; every other
// slice is sorted by the bytes of its names (Zones by namespace, then lower bound;
// Events newest first). Slices must not be modified. Safe for concurrent use.
type Table struct {
	ClusterID   string    // before the cluster was reached, that of the one last seen at its address; "" when not known
	Formerly    string    // id of the cluster that was last seen at this address before the start, when it is another one
	Began       time.Time // when watching began
	Seq         uint64    // grows when anything changes that people see; not with times of good reads and what counts up by itself
	Built       time.Time // when this one was published
	Loaded      bool      // routing, shards and databases have been read at least once
	Saved       time.Time // when an earlier process saved parts of this table that were not compared with the cluster since; else zero
	ServerInfo  ServerInfo
	Shards      []Shard
	Databases   []Database
	Collections []*Collection // includes config.system.sessions, temporary and unsplittable ones: pages filter
	Damaged     []*Damage     // collections whose routing table cannot be used; those in Collections too are as they were before
	Unsharded   []Namespace   // from listCollections where permitted; nil when unknown
	Zones       []ZoneRange
	Balancer    Balancer
	Routers     []Router
	Events      []Event // newest first; at most 1,000 of the server's own collections and 1,000 others
	Rounds      Rounds  // the balancer's, read where migrations are logged
	Moves       Moves   // migrations under way
	Deletions   Deletions
	Answering   Answering
	Connection  Connection
	Sizes       map[Namespace]Sizes
	Disks       map[string]Disk // by shard name; DiskOf tells what is not in it
	Health      map[Part]Health
	// FlagsRead is since when every jumbo flag of a collection was read: the oldest of its
	// flags is from then. A chunk whose move fails is read again at once.
	FlagsRead map[Namespace]time.Time
	Following Following
	Changes   []Change // against the table of Seq-1
	// Contradictions are what the parts of the metadata say differently, sorted by kind and names.
	Contradictions []Contradiction

	slowBegan time.Time // when the last read of shards and databases that succeeded began
	every     map[Part]time.Duration
	history   []changeSet
	hiding    *shardkey.Hiding // nil: key values are shown
}

// changeSet is what one earlier publication changed.
type changeSet struct {
	seq     uint64
	changes []Change
}

// ServerInfo is what buildInfo, hello and config.version said.
type ServerInfo struct {
	Version   string
	Hosts     string // redacted "host:port,…" for display
	ClusterID string // config.version.clusterId in hex; empty when it may not be read

	Product        string `json:",omitempty"` // Community, Enterprise, Percona or Atlas; empty when not known
	ProductVersion string `json:",omitempty"` // the product's own, where it is not Version
}

// The products that speak for MongoDB, by their names.
const (
	Community  = "MongoDB"
	Enterprise = "MongoDB Enterprise"
	Percona    = "Percona Server for MongoDB"
	Atlas      = "MongoDB Atlas"
)

// Release is product and version as people write them, such as "MongoDB 5.0.7".
func (s ServerInfo) Release() string {
	switch {
	case s.Version == "":
		return ""
	case s.ProductVersion != "":
		return s.Product + " " + s.ProductVersion
	case s.Product == "":
		return Community + " " + s.Version
	}
	return s.Product + " " + s.Version
}

// loadedParts are those without which nothing can be said.
var loadedParts = [...]Part{PartRouting, PartShards, PartDatabases}

// NotLoaded is the failure of whatever needs a table that is not Loaded, which
// may be nil: why it is not, where that is known. It is Unavailable whatever the reason
// is, because it is not the fault of who asks.
func (t *Table) NotLoaded() error {
	for _, p := range loadedParts {
		if t == nil {
			break
		}
		if h := t.Health[p]; h.At.IsZero() && h.Err != nil {
			return fault.Wrap(fault.Unavailable, h.Err, "The routing table is not loaded yet. %s", fault.Text(h.Err))
		}
	}
	return fault.New(fault.Unavailable, "The routing table is not loaded yet; try again in a moment.")
}

// Collection finds a sharded (or tracked) collection; nil if there is none of that name.
func (t *Table) Collection(ns Namespace) *Collection {
	if c := t.named(ns); c != nil || IsBuckets(ns) {
		return c
	}
	if c := t.named(BucketsOf(ns)); c != nil && c.Series.Exists() {
		return c
	}
	return nil
}

func (t *Table) named(ns Namespace) *Collection {
	i, ok := slices.BinarySearchFunc(t.Collections, ns, func(c *Collection, ns Namespace) int { return cmp.Compare(c.NS, ns) })
	if !ok {
		return nil
	}
	return t.Collections[i]
}

// Shard finds a shard by name; nil if there is none. The pointer is into the table: read only.
func (t *Table) Shard(name string) *Shard {
	i, ok := slices.BinarySearchFunc(t.Shards, name, func(s Shard, n string) int { return natural.Compare(s.Name, n) })
	if !ok {
		return nil
	}
	return &t.Shards[i]
}

// Primary is the primary shard of a database; "" if unknown. The config and
// admin databases have none: they live on the config servers.
func (t *Table) Primary(db string) string {
	i, ok := slices.BinarySearchFunc(t.Databases, db, func(d Database, n string) int { return cmp.Compare(d.Name, n) })
	if !ok {
		return ""
	}
	return t.Databases[i].Primary
}

// Home is the shard of a collection that is not sharded: that of its one chunk where it has a place of its own (8.0
// on), else the primary shard of its database; "" if unknown.
func (t *Table) Home(ns Namespace) string {
	c := t.Collection(ns)
	switch {
	case c == nil:
		return t.Primary(ns.Database())
	case c.Chunks.Len() == 0:
		return "" // not read yet
	}
	return c.Chunks.Owner(0)
}

// UnshardedCollections yields what is not sharded, with a place of its own or without.
func (t *Table) UnshardedCollections() iter.Seq[Namespace] {
	return func(yield func(Namespace) bool) {
		for _, c := range t.Collections {
			if c.Unsplittable && !c.Temporary && !yield(c.NS) {
				return
			}
		}
		for _, ns := range t.Unsharded {
			if !yield(ns) {
				return
			}
		}
	}
}

// ZonesOf is the zone ranges of a namespace in key order. The slice is part of
// the table: read only.
func (t *Table) ZonesOf(ns Namespace) []ZoneRange {
	from := sort.Search(len(t.Zones), func(i int) bool { return t.Zones[i].NS >= ns })
	to := from
	for to < len(t.Zones) && t.Zones[to].NS == ns {
		to++
	}
	return t.Zones[from:to]
}

// ZoneOf names the zone whose range covers the whole chunk at position i;
// straddles is true when the boundary of a range cuts the chunk, which only
// lasts until the balancer has split it.
func (t *Table) ZoneOf(c *Collection, i int) (zone string, straddles bool) {
	zones := t.ZonesOf(c.NS)
	if len(zones) == 0 {
		return "", false
	}
	ch := c.Chunks.At(i)
	// Ranges of one namespace do not overlap, so their upper bounds are sorted too.
	z := sort.Search(len(zones), func(i int) bool { return zones[i].Max.Compare(ch.Min) > 0 })
	if z == len(zones) || zones[z].Min.IsZero() || zones[z].Min.Compare(ch.Max) >= 0 {
		return "", false
	}
	if zones[z].Min.Compare(ch.Min) <= 0 && zones[z].Max.Compare(ch.Max) >= 0 {
		return zones[z].Zone, false
	}
	return "", true
}

// IsRead tells whether the table was read from the cluster by this process, all that Loaded means of it.
func (t *Table) IsRead() bool { return t.Loaded && t.Saved.IsZero() }

// Stale tells whether the part's last read failed, it was never read, or it is
// older than three of its polls. Nothing of a saved table is fresh.
func (t *Table) Stale(p Part, now time.Time) bool {
	h := t.Health[p]
	if h.Err != nil || h.At.IsZero() || !t.Saved.IsZero() {
		return true
	}
	every := t.every[p]
	if t.Following.Live && (p == PartRouting || p == PartMoves || p == PartEvents) {
		every = max(every, followedAge)
	}
	return every > 0 && now.Sub(h.At) > 3*every
}

// PollEvery is how often a part is read where nothing tells of changes.
func (t *Table) PollEvery(p Part) time.Duration { return t.every[p] }

// Since is every change after the table of the given Seq, oldest first. It is
// not complete when that table is too long ago: then everything may have changed.
func (t *Table) Since(seq uint64) (changes []Change, complete bool) {
	if seq >= t.Seq {
		return nil, true
	}
	if len(t.history) == 0 || t.history[0].seq > seq+1 {
		return nil, false
	}
	for _, s := range t.history {
		if s.seq > seq {
			changes = append(changes, s.changes...)
		}
	}
	return changes, true
}

// Reflagged is the table with the jumbo flags of rows, where they are otherwise
// chunks of it; the table itself when they have no other flags.
func (t *Table) Reflagged(ns Namespace, rows []Chunk) *Table {
	c := t.Collection(ns)
	if c == nil {
		return t
	}
	chunks, _ := c.Chunks.Reflag(rows)
	if chunks == c.Chunks {
		return t
	}
	next := *t
	next.replace(&Collection{Meta: c.Meta, Highest: c.Highest, Chunks: chunks})
	return &next
}

// setFlagsRead puts times into a copy of FlagsRead, so that older tables keep theirs.
func (t *Table) setFlagsRead(read map[Namespace]time.Time) {
	next := make(map[Namespace]time.Time, len(t.Collections))
	for _, c := range t.Collections {
		if at := cmp.Or(read[c.NS], t.FlagsRead[c.NS]); !at.IsZero() {
			next[c.NS] = at
		}
	}
	t.FlagsRead = next
}

// replace puts a collection in the place of the one of its name.
func (t *Table) replace(c *Collection) {
	t.Collections = slices.Clone(t.Collections)
	for i, o := range t.Collections {
		if o.NS == c.NS {
			t.Collections[i] = c
		}
	}
}
