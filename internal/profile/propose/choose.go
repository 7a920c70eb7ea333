package propose

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/natural"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// propose makes a profile of a tenant's field; false if it turns out not to be one.
func (r *reader) propose(l lead) bool {
	if r.out.Database != l.db {
		r.out.Database = l.db
		r.fields, r.unique, r.nested = map[string][]Field{}, map[string][][]string{}, map[string]string{}
		r.unreachable = map[string][]string{}
	}
	own := r.without(l)
	if len(own) == 0 {
		r.because("%s is not taken for the tenant: it is a unique key where shard keys begin with it, so it groups no rows.", name(l.field))
		return false
	}
	if coll := r.dotted(own, l.field); coll != "" {
		r.because("%s is not taken for the tenant: rows of %s have a field whose own name is that. A dot is a way into another field, in "+
			"profiles as in shard keys, so neither finds it.", name(l.field), name(coll))
		return false
	}
	if kind := r.notAnID(own, l.field); kind != "" {
		r.because("%s is not taken for the tenant: its values are of type %s.", name(l.field), kind)
		return false
	}
	r.begins = own[0].Key
	values := r.values(own, l.field)
	colls := r.collections()
	dir := r.directory(l, own, colls, values)
	if above := r.above(dir.coll, l.field); r.strict && above != "" {
		r.because("%s is not taken for the tenant: %s, which has its values, is itself sharded by %s.",
			name(l.field), name(dir.coll), name(above))
		r.nested[l.field] = dir.coll
		return false
	}
	if dir.coll != "" && r.tooLong(dir.coll) {
		dir = directory{reason: fmt.Sprintf("%s lists the tenants, but has more than %d rows: shardboard keeps the list in memory, so "+
			"the profile does without it.", name(dir.coll), mostListed)}
	} else if dir.coll == "" && !r.groups(own, l.field, values) {
		r.because("%s is not taken for the tenant: each row that was looked at has a value of its own, and no collection lists these.",
			name(l.field))
		return false
	}
	f := &file{name: nameOf(l.db), directory: dir.coll, documents: row{tenant: l.field}}
	if dir.coll != "" && dir.id != "_id" {
		f.id = dir.id
	}
	r.because("%s is the tenant: %d of %d shard keys of the database %s begin with it.", name(l.field), len(l.colls), l.of, name(l.db))
	r.because("%s", dir.reason)
	f.tenant = calledAfter(cmp.Or(dir.coll, base(l.field)))
	r.titles(f, dir)
	docs := r.documents(own, colls)
	f.documents = r.row(docs.NS.Collection(), l.field, "")
	f.documents.key = r.key(docs, l.field)
	f.documents.called = calledAfter(f.documents.name)
	f.documents.created = r.dated(f.documents.name, "createdAt", "created_at", "created", "createdOn", "creationDate", "insertedAt")
	f.removed = r.dated(f.documents.name, "deletedAt", "deleted_at", "removedAt", "removed_at", "cancelledAt", "cancelled_at", "archivedAt")
	f.changed = r.dated(f.documents.name, "updatedAt", "updated_at", "modifiedAt", "modified_at", "changedAt", "lastModified")
	f.rest = r.rest(f, colls, dir.coll)
	r.out.text = f
	p, err := profile.Parse(FileName(f.name), r.out.YAML())
	if err != nil { // names that a profile cannot have were left out before
		r.because("%s is not taken for the tenant: %v.", name(l.field), err)
		r.out.text = nil
		return false
	}
	r.out.Profile = p
	r.preview(f, values, dir)
	return true
}

// above is the field that the key of a directory begins with, if it groups the directory's own rows; "" if none does.
func (r *reader) above(dir, field string) string {
	c := r.t.Collection(r.namespace(dir))
	if dir == "" || c == nil || c.Unsplittable || c.Key.Len() == 0 {
		return ""
	}
	lead := c.Key.Fields()[0].Name
	if lead == "_id" || lead == field || !usable(lead) || c.Unique && c.Key.Len() == 1 ||
		slices.ContainsFunc(r.uniqueOf(dir), func(u []string) bool { return slices.Equal(u, []string{lead}) }) {
		return ""
	}
	return lead
}

// others says which fields could be the tenant too.
func (r *reader) others(all []lead, taken lead) {
	var names []string
	for _, l := range all {
		if l.db == taken.db && l.field != taken.field {
			names = append(names, fmt.Sprintf("%s (%d of %d)", name(l.field), len(l.colls), l.of))
		}
	}
	if len(names) > 0 {
		r.because("Other keys begin with %s: --tenant takes another field.", strings.Join(names, ", "))
	}
	names = nil
	for _, l := range all {
		if l.db != taken.db && !slices.Contains(names, name(l.db)) {
			names = append(names, name(l.db))
		}
	}
	if len(names) > 0 {
		natural.Sort(names)
		r.because("Other databases have such keys: %s. --database takes another one.", strings.Join(names, ", "))
	}
}

// without leaves out the collections that have the field as a unique key: these list tenants.
func (r *reader) without(l lead) (out []*topology.Collection) {
	for _, c := range l.colls {
		unique := r.uniqueOf(c.NS.Collection())
		if c.Key.Len() == 1 && (c.Unique || slices.ContainsFunc(unique, func(u []string) bool { return slices.Equal(u, []string{l.field}) })) {
			continue
		}
		out = append(out, c)
	}
	return out
}

// notAnID is the type of a field's values if they cannot be ids; "" if they can, or are not known.
func (r *reader) notAnID(colls []*topology.Collection, field string) string {
	for _, c := range colls {
		f, ok := find(r.fieldsOf(c.NS.Collection()), field)
		if ok && !f.only(idTypes...) && !f.only() {
			return strings.Join(f.Types, ", ")
		}
	}
	return ""
}

// dotted is a collection whose rows have a field of this name, dots included, and none at this path; "" if there is
// none.
func (r *reader) dotted(colls []*topology.Collection, field string) string {
	for _, c := range colls {
		coll := c.NS.Collection()
		if _, ok := find(r.fieldsOf(coll), field); !ok && slices.Contains(r.unreachable[coll], field) {
			return coll
		}
	}
	return ""
}

// collections are those of the database that are looked at, the sharded ones first.
func (r *reader) collections() (out []string) {
	var rest []string
	actual := profile.ActualOf(r.t, r.out.Database)
	left := 0
	for _, c := range actual.Names {
		switch _, sharded := actual.Keys[c]; {
		case profile.CheckCollection(c) != "":
			left++
		case sharded:
			out = append(out, c)
		default:
			rest = append(rest, c)
		}
	}
	text := fmt.Sprintf("The collections of %s that are not sharded are not known: listing them is not permitted or failed.",
		name(r.out.Database))
	if !actual.Listed && !slices.Contains(r.out.Unread, text) {
		r.out.Unread = append(r.out.Unread, text)
	}
	if left > 0 {
		r.because("Left out, because a profile cannot name them: %d of the collections.", left)
	}
	if out = append(out, rest...); len(out) > MostCollections {
		r.because("Only %d of %d collections were looked at.", MostCollections, len(out))
		out = out[:MostCollections]
	}
	return out
}

// documents is the collection whose rows are the documents: one that others refer to, else the largest.
func (r *reader) documents(own []*topology.Collection, colls []string) *topology.Collection {
	refers := map[topology.Namespace]int{}
	for _, c := range own {
		for _, other := range colls {
			if other != c.NS.Collection() && (r.reference(other, c.NS.Collection()) != "" || partOf(other, c.NS.Collection())) {
				refers[c.NS]++
			}
		}
	}
	out := slices.MinFunc(own, func(a, b *topology.Collection) int {
		return cmp.Or(cmp.Compare(refers[b.NS], refers[a.NS]), cmp.Compare(r.seen(b), r.seen(a)), cmp.Compare(b.Chunks.Len(), a.Chunks.Len()),
			cmp.Compare(bytesOf(r.t, b.NS), bytesOf(r.t, a.NS)), natural.Compare(a.NS, b.NS))
	})
	switch n := refers[out.NS]; {
	case len(own) == 1:
		r.because("%s has the documents: it is the only collection whose key begins with the tenant.", name(out.NS.Collection()))
	case n == 1:
		r.because("%s has the documents: another collection is a part of it or refers to its rows.", name(out.NS.Collection()))
	case n > 1:
		r.because("%s has the documents: %d other collections are parts of it or refer to its rows.", name(out.NS.Collection()), n)
	default:
		r.because("%s has the documents: it is the largest collection whose key begins with the tenant.", name(out.NS.Collection()))
	}
	return out
}

// partOf reports whether a collection is named as a part of another one: order_items of orders.
func partOf(coll, of string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(coll), strings.ToLower(singular(of)))
	return ok && len(rest) > 1 && !strings.EqualFold(coll, of)
}

// seen is 1 if rows of a collection were seen.
func (r *reader) seen(c *topology.Collection) int { return min(1, len(r.fieldsOf(c.NS.Collection()))) }

func bytesOf(t *topology.Table, ns topology.Namespace) (sum int64) {
	for _, s := range t.Sizes[ns].Shards {
		sum += s.Bytes.Value
	}
	return sum
}

// reference is the field of a collection that has the id of a row of another one: orderId for orders.
func (r *reader) reference(coll, of string) string {
	for field, listed := range r.nested {
		if _, ok := find(r.fieldsOf(coll), field); ok && listed == of {
			return field
		}
	}
	id, known := find(r.fieldsOf(of), "_id")
	flat := func(s string) string {
		return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(s))
	}
	names := []string{flat(singular(of)) + "id", flat(singular(of)) + "ref"}
	for _, f := range r.fieldsOf(coll) {
		named := slices.Contains(names, flat(f.Name)) || slices.Contains(names, flat(inner(f.Name)))
		if !named || !f.only(idTypes...) || known && !f.only(id.Types...) {
			continue
		}
		if _, ownName := find(r.fieldsOf(of), f.Name); !ownName { // else it is another name of the row than its _id
			return f.Name
		}
	}
	return ""
}

// row describes a collection as it is.
func (r *reader) row(coll, tenant, document string) row {
	out := row{name: coll, tenant: tenant, document: document}
	if c := r.t.Collection(r.namespace(coll)); c != nil && !c.Unsplittable && writable(c.Key) {
		out.shardKey = &c.Key
	}
	return out
}

// writable reports whether a file can have a shard key: it is read back as it was.
func writable(p shardkey.Pattern) bool {
	return !slices.ContainsFunc(p.Fields(), func(f shardkey.Field) bool { return f.Name == "" || !validText(f.Name) })
}

func validText(s string) bool {
	return profile.CheckCollection("a"+s) == "" || strings.Contains(s, "$")
}

// rest are the other collections that have the tenant or are sharded.
func (r *reader) rest(f *file, colls []string, directory string) (out []row) {
	for _, c := range colls {
		if c == f.documents.name || c == directory {
			continue
		}
		tenant, document := "", r.reference(c, f.documents.name)
		sharded := r.t.Collection(r.namespace(c))
		if sharded != nil && sharded.Unsplittable {
			sharded = nil
		}
		if _, ok := find(r.fieldsOf(c), f.documents.tenant); ok || sharded != nil && sharded.Key.HasField(f.documents.tenant) {
			tenant = f.documents.tenant
		}
		if document == tenant {
			document = ""
		}
		if tenant == "" && document == "" {
			continue // of no tenant: it is shown by its chunks
		}
		out = append(out, r.row(c, tenant, document))
	}
	return out
}

// keyNames are fields that name a row, the best first; # stands for what a row is called.
var keyNames = []string{"key", "#key", "#number", "#no", "#code", "#id", "number", "no", "code", "slug", "sku",
	"reference", "externalid", "path",
	"name", "title", "#name"}

// key is the field that names a document within its tenant; "" = only its _id does.
func (r *reader) key(docs *topology.Collection, tenant string) string {
	coll := docs.NS.Collection()
	list := r.fieldsOf(coll)
	usableKey := func(field string) bool {
		f, ok := find(list, field)
		return ok && field != tenant && field != "_id" && f.only(idTypes...)
	}
	if fields := docs.Key.Fields(); len(fields) > 1 && usableKey(fields[1].Name) {
		r.because("%s names a document: the shard key has it after the tenant.", name(fields[1].Name))
		return fields[1].Name
	}
	unique := r.uniqueOf(coll)
	for _, u := range unique {
		if len(u) == 2 && slices.Contains(u, tenant) {
			for _, field := range u {
				if usableKey(field) {
					r.because("%s names a document: a unique index has it beside the tenant.", name(field))
					return field
				}
			}
		}
	}
	for _, u := range unique {
		if len(u) == 1 && usableKey(u[0]) {
			r.because("%s names a document: it is a unique key.", name(u[0]))
			return u[0]
		}
	}
	if field := named(list, singular(coll), keyNames, usableKey); field != "" {
		r.because("%s names a document, by its name; no unique index has it.", name(field))
		return field
	}
	r.because("Nothing beside _id names a document.")
	return ""
}

// named is the first field of a list of likely names that can be used.
func named(list []Field, one string, likely []string, ok func(string) bool) string {
	flat := strings.NewReplacer("_", "", "-", "", ".", "").Replace
	for _, want := range likely {
		want = strings.ReplaceAll(want, "#", flat(strings.ToLower(one)))
		for _, f := range list {
			if flat(strings.ToLower(f.Name)) == want && ok(f.Name) {
				return f.Name
			}
		}
	}
	return ""
}

// dated is the first of some fields that has dates.
func (r *reader) dated(coll string, likely ...string) string {
	for i := range likely {
		likely[i] = strings.ReplaceAll(strings.ToLower(likely[i]), "_", "")
	}
	list := r.fieldsOf(coll)
	return named(list, "", likely, func(field string) bool { f, _ := find(list, field); return f.only("date") })
}

// wordy is what can stand in a sentence as it is.
var wordy = regexp.MustCompile(`^\pL[\pL\d ]{1,39}$`)

// calledAfter makes words of the name of a collection: Order item and Order items of order_items.
func calledAfter(coll string) profile.Called {
	var b strings.Builder
	for i, c := range coll {
		switch {
		case c == '_' || c == '-' || c == '.':
			b.WriteByte(' ')
			continue
		case unicode.IsUpper(c) && i > 0:
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	many := strings.Join(strings.Fields(b.String()), " ")
	if !wordy.MatchString(many) {
		return profile.Called{}
	}
	one := singular(many)
	if one == many {
		many = plural(one)
	}
	return profile.Called{One: capital(one), Many: capital(many)}
}

func plural(s string) string {
	switch {
	case strings.HasSuffix(s, "y") && len(s) > 2 && !strings.ContainsRune("aeiou", rune(s[len(s)-2])):
		return s[:len(s)-1] + "ies"
	case strings.HasSuffix(s, "s"), strings.HasSuffix(s, "x"), strings.HasSuffix(s, "ch"), strings.HasSuffix(s, "sh"):
		return s + "es"
	}
	return s + "s"
}

func capital(s string) string {
	for i, c := range s {
		return string(unicode.ToUpper(c)) + s[i+len(string(c)):]
	}
	return s
}

// nameOf is the name of the profile of a database.
func nameOf(db string) string {
	if profile.CheckCollection(db) != "" {
		return "proposed"
	}
	return db
}

// TenantWords are what tenants are called.
func (p Proposal) TenantWords() profile.Called {
	if p.Profile != nil && p.Profile.Tenants.Many != "" {
		return p.Profile.Tenants
	}
	return profile.Called{One: "Tenant", Many: "Tenants"}
}

// groups reports whether values of the field have more than one row each, as far as was seen: else it is a key of rows.
func (r *reader) groups(own []*topology.Collection, field string, values []counted) bool {
	if len(values) == 0 || values[0].rows > 1 { // those of most rows come first
		return true
	}
	for _, v := range values[:min(len(values), PreviewTenants)] {
		for _, c := range own {
			if n, err := r.src.CountOf(r.ctx, c.NS, field, v.value, 2); err != nil || n > 1 {
				return true
			}
		}
	}
	return false
}

// counted is a value of the tenant's field and how many of the rows that were read have it.
type counted struct {
	value bson.RawValue
	rows  int
}

// values are tenants of some rows, those of most rows first.
func (r *reader) values(own []*topology.Collection, field string) (out []counted) {
	for _, c := range own {
		rows, err := r.src.SomeRows(r.ctx, c.NS, Rows{Fields: []string{field}, Limit: sampledValues, Random: true})
		if err != nil && fault.Of(err) != fault.Forbidden { // drawing rows can fail where reading some does not
			rows, err = r.src.SomeRows(r.ctx, c.NS, Rows{Fields: []string{field}, Limit: sampledValues})
		}
		if err != nil {
			r.unread(c.NS, "Rows", err)
			continue
		}
		for _, row := range rows {
			v := shardkey.FieldOf(row, field)
			if v.Type == 0 || v.Type == bson.TypeNull || v.Type == bson.TypeUndefined {
				continue
			}
			i := slices.IndexFunc(out, func(o counted) bool { return r.same(o.value, v) })
			if i < 0 {
				out, i = append(out, counted{value: v}), len(out)
			}
			out[i].rows++
		}
		if len(out) >= PreviewTenants {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b counted) int { return cmp.Compare(b.rows, a.rows) })
	return out
}
