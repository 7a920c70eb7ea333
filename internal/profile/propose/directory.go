package propose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// directory is the collection that lists the tenants.
type directory struct {
	coll, id string // "" = none; id: the field with what the documents have
	reason   string
	checked  bool // its rows were compared with tenants of the documents
}

// directory finds the collection that has the tenants' values as _id or in a unique key. One that is named after
// the field comes first; another one needs every value, and values that are no small numbers, which many
// collections have.
func (r *reader) directory(l lead, own []*topology.Collection, colls []string, values []counted) directory {
	isOwn := func(coll string) bool {
		return slices.ContainsFunc(own, func(c *topology.Collection) bool { return c.NS.Collection() == coll })
	}
	likely := slices.DeleteFunc(slices.Clone(colls), isOwn)
	slices.SortStableFunc(likely, func(a, b string) int { return cmp.Compare(affinity(b, l.field), affinity(a, l.field)) })
	likely = likely[:min(len(likely), mostDirectories)]
	in := make([]bson.RawValue, 0, mostValues)
	for _, v := range values[:min(len(values), mostValues)] {
		in = append(in, v.value)
	}
	telling := slices.ContainsFunc(in, func(v bson.RawValue) bool {
		return v.Type == bson.TypeObjectID || v.Type == bson.TypeString || v.Type == bson.TypeBinary
	})
	for _, coll := range likely {
		near := affinity(coll, l.field)
		if len(in) == 0 {
			break
		}
		ids := []string{"_id"}
		for _, u := range r.uniqueOf(coll) {
			if len(u) == 1 && usable(u[0]) && len(ids) <= mostUniqueKeys {
				ids = append(ids, u[0])
			}
		}
		for _, id := range ids {
			if near == 0 && !telling && id != l.field { // small numbers are in many collections
				continue
			}
			rows, err := r.src.SomeRows(r.ctx, r.namespace(coll), Rows{Fields: beside(id), Where: id, In: in, Limit: len(in)})
			if err != nil {
				r.unread(r.namespace(coll), "Rows", err)
				break
			}
			if n := len(rows); n == len(in) || near > 0 && 2*n >= len(in) && n > 0 {
				return directory{coll: coll, id: id, checked: true, reason: fmt.Sprintf(
					"%s lists the tenants: %d of %d values of %s that were read are its %s.", name(coll), n, len(in), name(l.field), name(id))}
			}
		}
	}
	for _, coll := range likely {
		if affinity(coll, l.field) == 2 && (len(in) == 0 || r.refused(coll)) {
			return directory{coll: coll, id: "_id", reason: fmt.Sprintf(
				"%s lists the tenants, by its name: its rows could not be compared with those of the documents.", name(coll))}
		}
	}
	return directory{reason: fmt.Sprintf("No collection lists the tenants: they are the values of %s.", name(l.field))}
}

// tooLong reports whether a directory has more rows than are kept in memory.
func (r *reader) tooLong(coll string) bool {
	n, err := r.src.CountOf(r.ctx, r.namespace(coll), "", bson.RawValue{}, mostListed+1)
	return err == nil && n > mostListed
}

// refused reports whether rows of a collection could not be read.
func (r *reader) refused(coll string) bool { return r.denied["Rows"+string(r.namespace(coll))] }

func beside(field string) []string {
	if field == "_id" {
		return nil
	}
	return []string{field}
}

var titleNames = []string{"name", "displayname", "#name", "title", "label", "fullname", "companyname", "company",
	"organisation", "organization",
	"slug", "handle", "username", "login", "code"}

// titles finds the names beside the tenants' ids.
func (r *reader) titles(f *file, d directory) {
	if d.coll == "" {
		return
	}
	list := r.fieldsOf(d.coll)
	f.title = named(list, base(f.documents.tenant), titleNames, func(field string) bool {
		of, _ := find(list, field)
		return field != f.id && of.only("string")
	})
	f.created = r.dated(d.coll, "createdAt", "created_at", "created", "createdOn", "creationDate", "registeredAt", "signedUpAt")
	if f.title == "" {
		r.because("No field of %s is named like a name, so tenants are called by their ids.", name(d.coll))
		return
	}
	r.because("%s of %s names a tenant.", name(f.title), name(d.coll))
}

// preview reads what some tenants hold.
func (r *reader) preview(f *file, values []counted, d directory) {
	values = r.enough(values, d)
	names := r.namesOf(f, values, d)
	for _, v := range values[:min(len(values), PreviewTenants)] {
		t := Tenant{ID: v.value, Name: names[r.canonical(v.value)]}
		for _, c := range append([]row{f.documents}, f.rest...) {
			if held, ok := r.held(c, f.documents.tenant, v.value); ok && len(t.Holds) < previewCounted {
				t.Holds = append(t.Holds, held)
			}
		}
		r.out.Tenants = append(r.out.Tenants, t)
	}
	slices.SortStableFunc(r.out.Tenants, func(a, b Tenant) int { return cmp.Compare(first(b), first(a)) })
}

// enough adds tenants that are listed to those that were seen, where these are few.
func (r *reader) enough(values []counted, d directory) []counted {
	if len(values) >= PreviewTenants || !d.checked {
		return values
	}
	rows, err := r.src.SomeRows(r.ctx, r.namespace(d.coll), Rows{Fields: beside(d.id), Limit: 2 * PreviewTenants})
	if err != nil {
		r.unread(r.namespace(d.coll), "Rows", err)
	}
	for _, row := range rows {
		v := shardkey.FieldOf(row, d.id)
		if v.Type != 0 && !slices.ContainsFunc(values, func(o counted) bool { return r.same(o.value, v) }) {
			values = append(values, counted{value: v})
		}
	}
	return values
}

func first(t Tenant) int64 {
	if len(t.Holds) == 0 {
		return 0
	}
	return t.Holds[0].Rows
}

func (r *reader) namesOf(f *file, values []counted, d directory) map[string]string {
	out := map[string]string{}
	if !d.checked || f.title == "" {
		return out
	}
	var in []bson.RawValue
	for _, v := range values[:min(len(values), PreviewTenants)] {
		in = append(in, v.value)
	}
	rows, err := r.src.SomeRows(r.ctx, r.namespace(d.coll), Rows{Fields: append(beside(d.id), f.title), Where: d.id, In: in, Limit: len(in)})
	if err != nil {
		r.unread(r.namespace(d.coll), "Rows", err)
	}
	for _, row := range rows {
		title, _ := shardkey.FieldOf(row, f.title).StringValueOK()
		out[r.canonical(shardkey.FieldOf(row, d.id))] = title
	}
	return out
}

// held is what a tenant has in a collection whose key begins with the tenant; false for others.
func (r *reader) held(c row, tenant string, value bson.RawValue) (Held, bool) {
	coll := r.t.Collection(r.namespace(c.name))
	if coll == nil || coll.Unsplittable || c.tenant == "" || coll.Key.Fields()[0].Name != tenant {
		return Held{}, false
	}
	out := Held{NS: coll.NS}
	if in, err := coll.Key.PrefixRange(value); err == nil {
		from, to := coll.Chunks.Overlap(in)
		out.Chunks = to - from
		for i := from; i < to; i++ {
			if s := coll.Chunks.Owner(i); !slices.Contains(out.Shards, s) {
				out.Shards = append(out.Shards, s)
			}
		}
		natural.Sort(out.Shards)
	}
	n, err := r.src.CountOf(r.ctx, coll.NS, tenant, value, MostCounted+1)
	if err != nil {
		r.unread(coll.NS, "How many rows a tenant has", err)
		return out, true
	}
	out.Known, out.AtLeast, out.Rows = true, n > MostCounted, min(n, MostCounted)
	return out, true
}

// preview are the lines about some tenants.
func (p Proposal) preview() (out []string) {
	for _, t := range p.Tenants {
		var parts []string
		for _, h := range t.Holds {
			parts = append(parts, h.Text())
		}
		who := valueText(t.ID)
		if t.Name != "" {
			who += " " + name(t.Name)
		}
		out = append(out, "    "+who+": "+strings.Join(parts, "; "))
	}
	return out
}
