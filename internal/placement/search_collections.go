package placement

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/placement/ids"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

func namespace(db, coll string) topology.Namespace { return topology.Namespace(db + "." + coll) }

// KeyValues are the values of an _id or a key that a text can be. An ObjectID or a UUID can also be stored as
// its text.
func KeyValues(text string) (out []bson.RawValue) {
	add := func(v any) {
		kind, data, err := bson.MarshalValue(v)
		if err == nil {
			out = append(out, bson.RawValue{Type: kind, Value: data})
		}
	}
	if id, ok := objectID(text); ok {
		add(id)
		text = id.Hex()
	} else if u, ok := ids.ParseUUID(text); ok {
		add(bson.Binary{Subtype: bson.TypeBinaryUUID, Data: u[:]})
		text = u.String()
	} else if v, ok := ReadValue(text); ok {
		value, _ := v.bson()
		out = append(out, value)
	}
	add(text)
	return out
}

// inAllCollections searches every sharded collection for rows with the _id.
func (s *search) inAllCollections(ctx context.Context, text string) error {
	list := s.shardedCollections()
	if len(list) > maxCollections {
		s.out.Notes = append(s.out.Notes, message.New("note.collectionsLeft",
			"Only the first {searched} of {all} sharded collections were searched.",
			message.Count("searched", maxCollections), message.Count("all", len(list))))
		list = list[:maxCollections]
	}
	if err := s.inCollections(ctx, list, KeyValues(text)); err != nil || len(s.out.Items) > 0 {
		return err
	}
	return fault.New(fault.NotFound,
		"No row with this _id was found in the sharded collections (%d). Collections that are not sharded were not searched.",
		len(list))
}

// inCollections searches for rows by _id, by one query for each collection: each shard has an index of
// it. A collection that may not be read, or does not answer in time, is named in a note.
func (s *search) inCollections(ctx context.Context, list []topology.Namespace, values []bson.RawValue) error {
	ctx, cancel := context.WithTimeout(ctx, WiderTime)
	defer cancel()
	var mu sync.Mutex
	found := make([][]bson.Raw, len(list))
	var denied, late []string
	var lateErr error
	g := errgroup.Group{}
	g.SetLimit(widerWorkers)
	for i, ns := range list {
		s.cost(ns, "_id")
		g.Go(func() error {
			rows, err := s.src.RowsByID(ctx, ns, s.fieldsOf(ns), values, maxRows)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, context.Canceled):
				return err
			case fault.Of(err) == fault.Forbidden:
				denied = append(denied, string(ns))
			case err != nil:
				late, lateErr = append(late, string(ns)), err
			}
			found[i] = rows
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if len(late) == len(list) && lateErr != nil {
		return lateErr
	}
	s.noteUnsearched(denied, "note.collectionsDenied", "Not searched, because the cluster user is not permitted to read them: {collections}.")
	s.noteUnsearched(late, "note.collectionsLate", "Not searched, because they did not answer in time: {collections}.")
	for i, ns := range list {
		for _, row := range found[i] {
			s.add(s.foundRow(ns, row))
		}
	}
	return nil
}

func (s *search) noteUnsearched(list []string, code, pattern string) {
	if len(list) == 0 {
		return
	}
	natural.Sort(list)
	s.out.Notes = append(s.out.Notes, message.New(code, pattern, message.Text("collections", strings.Join(list, ", "))))
}

// fieldsOf are the fields that say where a row is and whose it is.
func (s *search) fieldsOf(ns topology.Namespace) (names []string) {
	if c := s.t.Collection(ns); c != nil {
		for _, f := range c.Key.Fields() {
			names = append(names, f.Name)
		}
	}
	if c, ok := s.known(ns); ok && c.ProjectField != "" && !slices.Contains(names, c.ProjectField) {
		names = append(names, c.ProjectField)
	}
	return names
}

// known is a collection of the profile's databases.
func (s *search) known(ns topology.Namespace) (profile.Collection, bool) {
	if !slices.Contains(s.dirs.Directory().Databases(), ns.Database()) {
		return profile.Collection{}, false
	}
	return s.profile.Nearest(s.t, ns.Database()).Collection(ns.Collection())
}

// foundRow places a row by the values that it has in the fields of the shard key.
func (s *search) foundRow(ns topology.Namespace, row bson.Raw) Item {
	id := row.Lookup("_id")
	it := Item{Kind: "row", ID: shardkey.PlainValue(id), Name: ns.Collection(), DB: ns.Database()}
	p := Place{NS: ns, Match: []Equal{{Field: "_id", Value: id}}}
	if c, ok := s.known(ns); ok {
		p.What = c.What
		if owner, stored, ok := IDOf(shardkey.FieldOf(row, c.ProjectField)); ok {
			s.owner(&it, ns.Database(), owner, stored)
		}
	}
	c := s.t.Collection(ns)
	if c == nil || c.Unsplittable {
		p.atHome(s.t)
	} else {
		values := make([]bson.RawValue, c.Key.Len())
		for i, f := range c.Key.Fields() {
			v := shardkey.FieldOf(row, f.Name)
			if v.Type == 0 {
				v.Type = bson.TypeNull // a row without the field is where null is
			}
			values[i] = v
			if f.Name != "_id" {
				p.Match = append(p.Match, Equal{Field: f.Name, Value: v})
			}
		}
		if err := p.inChunks(s.t, c, values); err != nil {
			p.Shards, p.Exact = nil, false
		}
	}
	p.Exists = "yes"
	it.Places = []Place{p}
	return it
}
