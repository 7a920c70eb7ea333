package placement

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/natural"
)

// documentKeys are the keys that a text can be: all of it, what it has after a project, and both without quotes
// or blanks around.
func documentKeys(text string, in Input) []string {
	keys := []string{text}
	add := func(key string) {
		if key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, r := range in.Readings {
		add(r.Key)
		add(strings.TrimSpace(r.Key))
	}
	add(strings.Trim(text, wrapping)) // as programs and mails quote it
	return keys
}

// projectsByDatabase lists all projects in the order of their ids, so that neighbours in a chunk are
// asked for by the same query.
func projectsByDatabase(dir *Directory) map[string][]Project {
	out := map[string][]Project{}
	for _, p := range dir.All() {
		out[p.DB] = append(out[p.DB], p)
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b Project) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	}
	return out
}

// inAllProjects searches for a document key without a project. No index begins with the key, so a
// query for it alone would read every document of every shard. Yorkie's unique index begins with
// project and key: a query that names the projects seeks once for each, and is sent only to the shards
// that own them. Projects that are not in the list, such as deleted ones, are not searched.
func (s *search) inAllProjects(ctx context.Context, keys []string) error {
	dir := s.dirs.Directory()
	if len(dir.All()) == 0 {
		return fault.New(fault.NotFound, s.own("No project is known whose documents could be searched (searched %s)."), s.searched())
	}
	ctx, cancel := context.WithTimeout(ctx, WiderTime)
	defer cancel()
	k := keySearch{search: s, keys: keys, dir: dir}
	g := errgroup.Group{}
	g.SetLimit(widerWorkers)
	byDB := projectsByDatabase(dir)
	for _, db := range slices.Sorted(maps.Keys(byDB)) {
		for projects := range slices.Chunk(byDB[db], projectsPerQuery) {
			g.Go(func() error { return k.ask(ctx, db, projects) })
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return k.finish()
}

// keySearch collects what the queries of one search find.
type keySearch struct {
	*search
	keys []string
	dir  *Directory

	mu       sync.Mutex
	found    []foundDocument
	searched int   // projects
	late     int   // projects whose query was not answered in time
	lateErr  error // of one of them
}

type foundDocument struct {
	db string
	DocumentRow
}

func (k *keySearch) ask(ctx context.Context, db string, projects []Project) error {
	k.mu.Lock()
	enough := len(k.found) > MaxKeyMatches
	if !enough && ctx.Err() == nil {
		k.cost(namespace(db, k.profile.Keys.Collection), k.profile.Keys.Project)
	}
	k.mu.Unlock()
	if enough {
		return nil
	}
	values := make([]bson.RawValue, len(projects))
	for i, p := range projects {
		values[i] = p.IDValue()
	}
	rows, err := k.src.DocumentsByKeyIn(ctx, db, k.profile.Keys, values, k.keys, MaxKeyMatches+1)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err != nil && (errors.Is(err, context.Canceled) || fault.Of(err) != fault.Unavailable):
		return err
	case err != nil:
		k.late, k.lateErr = k.late+len(projects), err
		return nil
	}
	k.searched += len(projects)
	for _, row := range rows {
		k.found = append(k.found, foundDocument{db, row})
	}
	return nil
}

// finish lists what was found, by the names of the projects, and says what was not searched.
func (k *keySearch) finish() error {
	if k.searched == 0 && k.lateErr != nil {
		return k.lateErr
	}
	name := func(f foundDocument) string { p, _ := k.dir.In(f.db, f.Project); return p.Name }
	slices.SortStableFunc(k.found, func(a, b foundDocument) int {
		return cmp.Or(natural.Compare(name(a), name(b)), strings.Compare(a.Key, b.Key), boolCompare(a.Removed, b.Removed))
	})
	if len(k.found) > MaxKeyMatches {
		k.found = k.found[:MaxKeyMatches]
		k.out.Notes = append(k.out.Notes, message.New("note.moreMatches",
			"Only {listed} documents are listed; more have this key. The search stopped there.", message.Count("listed", MaxKeyMatches)))
	}
	if k.late > 0 {
		k.out.Notes = append(k.out.Notes, message.New("note.projectsLate",
			"Projects that could not be searched in {time}: {late} of {all}. They may have this key too.",
			message.Count("late", k.late), message.Count("all", k.late+k.searched), message.Duration("time", WiderTime)))
	}
	for _, f := range k.found {
		k.add(k.documentItem(k.t, f.db, f.idRow(k.dir.stored(f.db, f.Project)), f.Removed, true))
	}
	switch {
	case len(k.found) > 0:
		return nil
	case k.late > 0:
		return fault.New(fault.NotFound,
			k.own("No Yorkie document has this key in the projects that were searched (%s). Some were not searched in time: %s."),
			format.Count(int64(k.searched)), format.Count(int64(k.late)))
	}
	return fault.New(fault.NotFound, k.own("No Yorkie document of a known project (%d) has exactly this key (searched %s)."),
		k.searched, k.Locator.searched())
}
