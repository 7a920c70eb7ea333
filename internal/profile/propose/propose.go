// Package propose makes a profile for data that fits none, from what the cluster says by itself: the leading
// field of most shard keys is the tenant, the collection that has its values as _id or unique key lists them.
//
// It reads few rows and only the names and types of their fields, beside values of the tenant's field and names of
// tenants; never fields that look like secrets. What it could not read is said, and never guessed silently.
package propose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Bounds on what a proposal reads.
const (
	SampledRows     = 20      // rows of a collection whose fields' names are read
	MostCollections = 40      // collections of the database that are looked at
	PreviewTenants  = 5       // tenants that the preview shows
	MostCounted     = 10_000  // rows of a tenant that the preview counts in a collection
	sampledValues   = 200     // rows whose tenant is read
	mostValues      = 20      // different tenants that are looked for in the directory
	previewCounted  = 6       // collections that the preview counts
	mostPaths       = 50      // fields inside of other fields whose types are read
	mostUniqueKeys  = 3       // unique keys of a collection that are compared with the tenants
	mostDirectories = 20      // collections that are looked at as a directory
	mostListed      = 100_000 // tenants of a directory: shardboard keeps them in memory
)

// Field is a field of some rows of a collection: its path and its BSON types as $type writes them, never a value.
type Field struct {
	Name  string
	Types []string
	// Dotted: the name itself has a dot, so that no path leads to the field.
	Dotted bool
}

// Rows asks for rows of a collection: only the named fields and _id, only rows where a field is one of the
// values, if any are given.
type Rows struct {
	Fields []string
	Where  string
	In     []bson.RawValue
	Limit  int
	Random bool // random rows instead of any; without Where
}

// Source is what a proposal reads beside the routing table. Errors are classified with fault.
type Source interface {
	// FieldNames are the names and types of the fields of at most so many rows, and of those at some paths inside them.
	// No value leaves the server.
	FieldNames(ctx context.Context, ns topology.Namespace, paths []string, rows int) ([]Field, error)
	// UniqueIndexes are the fields of each unique index but that of _id.
	UniqueIndexes(ctx context.Context, ns topology.Namespace) ([][]string, error)
	// SomeRows reads rows in no order.
	SomeRows(ctx context.Context, ns topology.Namespace, q Rows) ([]bson.Raw, error)
	// CountOf counts rows with a value, or all rows if field is "", up to a limit.
	CountOf(ctx context.Context, ns topology.Namespace, field string, value bson.RawValue, limit int) (int64, error)
}

// Options narrow what is proposed.
type Options struct {
	Database string // "" = the one with most to find
	Tenant   string // the tenant's field; "" = the leading field of most shard keys
}

// Proposal is a profile with its reasons, or, without a profile, why there is none.
type Proposal struct {
	Profile  *profile.Profile // nil: nothing was found
	Database string
	Reasons  []string // sentences: why each part was chosen, or why nothing was found
	Unread   []string // sentences: what could not be read
	Tenants  []Tenant // some of the tenants, those with most rows first
	text     *file
}

// Tenant is one of the tenants of a preview.
type Tenant struct {
	ID    bson.RawValue
	Name  string
	Holds []Held
}

// Held is what a tenant has in a collection.
type Held struct {
	NS      topology.Namespace
	Rows    int64
	Known   bool // Rows was counted
	AtLeast bool // there are more
	Shards  []string
	Chunks  int // that can have rows of the tenant
}

// Read proposes a profile. The error is not nil only if the context has ended: a refused read is told in Unread.
func Read(ctx context.Context, src Source, t *topology.Table, o Options) (Proposal, error) {
	r := reader{ctx: ctx, src: src, t: t, fields: map[string][]Field{}, unique: map[string][][]string{}}
	found, why := leads(t, o)
	for _, r.strict = range []bool{true, false} {
		r.out.Reasons = slices.Clone(why)
		if i := slices.IndexFunc(found, r.propose); i >= 0 {
			r.others(found, found[i])
			break
		}
	}
	if ctx.Err() != nil {
		return Proposal{}, ctx.Err()
	}
	return r.out, nil
}

// Nothing is the error of a proposal without a profile: its text says why.
func (p Proposal) Nothing() error {
	if p.Profile != nil {
		return nil
	}
	text := strings.Join(append(append([]string{"No profile can be proposed."}, p.Reasons...), p.Unread...), " ")
	if len(p.Unread) > 0 {
		return fault.New(fault.Forbidden, "%s", text)
	}
	return fault.New(fault.NotFound, "%s", text)
}

// reader proposes one profile.
type reader struct {
	ctx    context.Context
	src    Source
	t      *topology.Table
	out    Proposal
	fields map[string][]Field // of collections of the database
	unique map[string][][]string
	// unreachable are names with dots of their own, by collection
	unreachable map[string][]string
	denied      map[string]bool   // by namespace: said already
	strict      bool              // a field whose values are listed in a collection of a tenant's is not taken
	nested      map[string]string // collections of a tenant's by the field that has the ids of their rows
	begins      shardkey.Pattern  // a key that begins with the tenant: compares values as the server does
}

// same reports whether two values are one for the server: numbers of several types can be.
func (r *reader) same(a, b bson.RawValue) bool { return r.canonical(a) == r.canonical(b) }

func (r *reader) canonical(v bson.RawValue) string {
	in, err := r.begins.PrefixRange(v)
	if err != nil {
		return string(v.Value) // of a type that no key has
	}
	return in.Min.Encoded()
}

// because adds a reason. Names in it are quoted by the caller.
func (r *reader) because(format string, args ...any) {
	r.out.Reasons = append(r.out.Reasons, fmt.Sprintf(format, args...))
}

// unread says once for a collection what could not be read.
func (r *reader) unread(ns topology.Namespace, what string, err error) {
	if r.denied == nil {
		r.denied = map[string]bool{}
	}
	if id := what + string(ns); !r.denied[id] {
		r.denied[id] = true
		r.out.Unread = append(r.out.Unread, fmt.Sprintf("%s of %s could not be read: %s", what, name(string(ns)),
			sanitize.Sentence(sentence(fault.Text(err)))))
	}
}

func sentence(s string) string {
	if s != "" && !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// name is a name for a sentence: as it is where it is plain, else quoted.
func name(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return sanitize.Quoted(sanitize.Truncate(s, 80))
}

func (r *reader) namespace(coll string) topology.Namespace {
	return topology.Namespace(r.out.Database + "." + coll)
}

func (r *reader) fieldsOf(coll string) []Field {
	got, ok := r.fields[coll]
	if !ok {
		var err error
		if got, err = r.src.FieldNames(r.ctx, r.namespace(coll), r.paths(coll), SampledRows); err != nil {
			r.unread(r.namespace(coll), "The names of fields", err)
		}
		got = slices.DeleteFunc(got, func(f Field) bool {
			if f.Dotted {
				r.unreachable[coll] = append(r.unreachable[coll], f.Name)
			}
			return f.Dotted || f.Name != "_id" && !usable(f.Name)
		})
		slices.SortFunc(got, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
		r.fields[coll] = got
	}
	return got
}

// paths are the fields inside of other fields that are in a shard key of the database or a unique index of the
// collection.
func (r *reader) paths(coll string) (out []string) {
	add := func(field string) {
		if strings.Contains(field, ".") && usable(field) && !slices.Contains(out, field) && len(out) < mostPaths {
			out = append(out, field)
		}
	}
	for _, unique := range r.unique[coll] { // as far as they were read
		for _, field := range unique {
			add(field)
		}
	}
	for _, c := range r.t.Collections {
		for _, f := range c.Key.Fields() {
			if c.NS.Database() == r.out.Database {
				add(f.Name)
			}
		}
	}
	return out
}

func (r *reader) uniqueOf(coll string) [][]string {
	got, ok := r.unique[coll]
	if !ok {
		var err error
		if got, err = r.src.UniqueIndexes(r.ctx, r.namespace(coll)); err != nil {
			r.unread(r.namespace(coll), "The indexes", err)
		}
		r.unique[coll] = got
	}
	return got
}

// usable reports whether a profile can name a field.
func usable(field string) bool { return profile.CheckField(field) == "" }

// find is a field by its name.
func find(list []Field, name string) (Field, bool) {
	i := slices.IndexFunc(list, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return list[i], true
}

// only reports whether a field has no other types than these, and null.
func (f Field) only(types ...string) bool {
	seen := false
	for _, t := range f.Types {
		if t == "null" || t == "undefined" {
			continue
		}
		if !slices.Contains(types, t) {
			return false
		}
		seen = true
	}
	return seen
}

// idTypes can be ids and keys.
var idTypes = []string{"string", "objectId", "int", "long", "double", "decimal", "binData", "symbol"}
