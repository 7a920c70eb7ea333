package placement

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/notify"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Tables is where the keeper gets the routing table from.
type Tables interface {
	// Table is the newest one: never nil, not Loaded before the first reads.
	Table() *topology.Table
	// Subscribe returns the newest table and a channel that receives a value when a newer one is there. Changes in quick
	// succession share a value. The last result ends the subscription.
	Subscribe() (*topology.Table, <-chan struct{}, func())
}

const (
	newProjectsEvery = 10 * time.Second
	allProjectsEvery = 60 * time.Second
	// projectsInDocumentsEvery is for projects that nothing lists: reading them costs the server a seek for each
	projectsInDocumentsEvery = 10 * time.Minute
	projectsTimeout          = 15 * time.Second
)

// Keeper keeps the directory of projects: new ones every 10 s (ids grow with
// time), all of them every minute, because names, keys and counts change too.
// Safe for concurrent use.
type Keeper struct {
	src     Source
	tables  Tables
	profile *profile.Profile
	log     *slog.Logger

	mu          sync.Mutex // held while a directory is published or subscribed to
	dir         *Directory
	subscribers notify.Subscribers

	// of the polling goroutine only
	rows map[string]map[bson.ObjectID]ProjectRow
	full time.Time // last good read of all
}

// NewKeeper makes a keeper with an empty, not yet loaded directory.
func NewKeeper(src Source, tables Tables, p *profile.Profile, log *slog.Logger) *Keeper {
	return &Keeper{
		src: src, tables: tables, profile: p, log: log,
		dir:  NewDirectory(0, nil, nil, topology.Health{}),
		rows: map[string]map[bson.ObjectID]ProjectRow{},
	}
}

// Directory is the newest directory; never nil.
func (k *Keeper) Directory() *Directory {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dir
}

// Subscribe hands out the directory and a channel that gets one value after
// newer ones appear (several may be joined into one).
func (k *Keeper) Subscribe() (*Directory, <-chan struct{}, func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	newer, end := k.subscribers.Subscribe()
	return k.dir, newer, end
}

// Run polls until ctx ends. It first waits for a loaded table: until then
// nobody knows which databases hold projects.
func (k *Keeper) Run(ctx context.Context) error {
	table, changed, cancel := k.tables.Subscribe()
	defer cancel()
	tick := time.NewTicker(newProjectsEvery)
	defer tick.Stop()
	for {
		if table.Loaded {
			if dbs := k.profile.Match(table); k.due(dbs) {
				k.Poll(ctx, dbs)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			table = k.tables.Table()
		case <-tick.C:
			table = k.tables.Table()
			if table.Loaded {
				k.Poll(ctx, k.profile.Match(table))
			}
		}
	}
}

// due tells whether the matched databases changed, or were never read.
func (k *Keeper) due(dbs []string) bool {
	d := k.Directory()
	return !d.Loaded() && d.health.Err == nil || !slices.Equal(dbs, d.databases)
}

// Poll reads what is due of the given databases now and publishes the result.
// A failure keeps the projects known so far and is told by Health. Not for
// concurrent use.
func (k *Keeper) Poll(ctx context.Context, dbs []string) {
	ctx, cancel := context.WithTimeout(ctx, projectsTimeout)
	defer cancel()
	every := allProjectsEvery
	if k.profile.Names.Collection == "" {
		every = projectsInDocumentsEvery
	}
	all := time.Since(k.full) >= every || !slices.Equal(dbs, k.Directory().databases)
	health := topology.Health{At: time.Now()}
	for _, db := range dbs {
		note, err := k.read(ctx, db, all)
		if note != "" {
			health.Note = note
		}
		var skipped *topology.SkippedError
		if errors.As(err, &skipped) {
			health.Note, err = skipped.Error(), nil
		}
		if err != nil {
			if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
				return
			}
			health = topology.Health{At: k.Directory().health.At, Err: err}
			var denied *topology.DeniedError
			if errors.As(err, &denied) {
				health.Denied, health.Product = true, denied.Product
				health.Privilege = "find on " + db + "." + cmp.Or(k.profile.Names.Collection, k.profile.Keys.Collection)
			}
			k.log.Warn("read projects", "db", db, "err", err)
		}
	}
	switch {
	case all && health.Err == nil:
		k.full = time.Now()
	case all && k.profile.Names.Collection == "": // it may have cost much: not again at once
		k.full = time.Now().Add(allProjectsEvery - every)
	}
	maps.DeleteFunc(k.rows, func(db string, _ map[bson.ObjectID]ProjectRow) bool { return !slices.Contains(dbs, db) })
	k.publish(dbs, health)
}

func (k *Keeper) read(ctx context.Context, db string, all bool) (note string, err error) {
	known := k.rows[db]
	if k.profile.Names.Collection == "" {
		return k.readInDocuments(ctx, db, all)
	}
	var after bson.ObjectID
	if !all {
		for id := range known {
			if !IsStandIn(id) && slices.Compare(id[:], after[:]) > 0 {
				after = id
			}
		}
	}
	rows, err := k.src.Projects(ctx, db, k.profile.Names, after, all || known == nil)
	var skipped *topology.SkippedError
	if err != nil && !errors.As(err, &skipped) {
		return "", err
	}
	if all || known == nil {
		known = make(map[bson.ObjectID]ProjectRow, len(rows))
		k.rows[db] = known
	}
	for _, r := range rows {
		known[r.ID] = r
	}
	return "", err
}

// readInDocuments reads the projects that nothing lists.
func (k *Keeper) readInDocuments(ctx context.Context, db string, all bool) (note string, err error) {
	if !all {
		return k.Directory().health.Note, nil
	}
	ranged := false
	if t := k.tables.Table(); t != nil {
		c := t.Collection(topology.Namespace(db + "." + k.profile.Keys.Collection))
		ranged = c != nil && c.Key.LeadsWith(k.profile.Keys.Project)
	}
	rows, note, err := k.src.ProjectsInDocuments(ctx, db, k.profile.Keys, ranged)
	if err != nil {
		return "", err
	}
	known := make(map[bson.ObjectID]ProjectRow, len(rows))
	for _, r := range rows {
		known[r.ID] = r
	}
	k.rows[db] = known
	return note, nil
}

// publish swaps the directory in when it says something new. The time of the
// last good read alone does not wake subscribers.
func (k *Keeper) publish(dbs []string, health topology.Health) {
	var projects []Project
	for db, rows := range k.rows {
		for _, r := range rows {
			projects = append(projects, k.projectOf(db, r))
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.dir
	next := NewDirectory(old.seq+1, dbs, projects, health)
	if slices.Equal(old.projects, next.projects) && slices.Equal(old.databases, dbs) &&
		(old.health.Err == nil) == (health.Err == nil) && old.health.Note == health.Note && old.Loaded() == next.Loaded() {
		next.seq = old.seq
		k.dir = next
		return
	}
	k.dir = next
	k.subscribers.Notify()
}

func (k *Keeper) projectOf(db string, r ProjectRow) Project {
	figure := func(n *int64) topology.Figure {
		if n == nil {
			return topology.Figure{Reason: "notCounted"}
		}
		return topology.Figure{Known: true, Value: *n, Method: "projectStats", At: r.StatsAt}
	}
	if k.profile.Names.Name == "" {
		r.Name = r.Stored.Text(r.ID)
	}
	return Project{
		DB: db, ID: r.ID, Stored: r.Stored, Name: r.Name, PublicKey: r.PublicKey, CreatedAt: r.CreatedAt,
		Documents: figure(r.Documents), Clients: figure(r.Clients),
	}
}
