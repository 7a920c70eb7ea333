package realsuite_test

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.yaml.in/yaml/v3"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

//go:embed walk_differences.yaml
var walkDifferences []byte

// comparing is how replies of two clusters are compared.
type comparing struct {
	Fields []struct {
		Field, In, As, Why string
		Since              string
	}
	Refusals []struct { // two texts of one refusal, as patterns
		In, First, Second, Why string
		Since                  string
	}
	Rows []struct { // of a dump that one side does not have
		In, What, Why string
		Since         string
	}
	Order []struct {
		Field, In, By, Why string
	}
}

func readComparing() (c comparing, err error) {
	d := yaml.NewDecoder(bytes.NewReader(walkDifferences))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		return c, err
	}
	for _, f := range c.Fields {
		if f.Field == "" || f.Why == "" || !slices.Contains([]string{"ignored", "type", "paired", "unless empty"}, f.As) {
			return c, fmt.Errorf("the field %q is compared as %q because %q", f.Field, f.As, f.Why)
		}
	}
	for _, r := range c.Refusals {
		if r.In == "" || r.First == "" || r.Why == "" {
			return c, fmt.Errorf("the refusal %q of %s has no second text or no reason", r.First, r.In)
		}
	}
	for _, o := range c.Order {
		if o.Field == "" || o.Why == "" {
			return c, fmt.Errorf("the order of %q is by %q because %q", o.Field, o.By, o.Why)
		}
	}
	return c, nil
}

// comparison compares the replies of two clusters to the same commands.
type comparison struct {
	comparing
	release string            // of both, such as 8.0
	second  map[string]string // for values of the first that servers made up: those of the second
	first   map[string]string
	found   []string
}

func newComparison(t testing.TB, release string) *comparison {
	t.Helper()
	how, err := readComparing()
	must.That(t, err == nil, "walk_differences.yaml:  %v", err)
	return &comparison{comparing: how, release: release, second: make(map[string]string), first: make(map[string]string)}
}

// compare returns the differences of two replies, or of two dumps.
func (c *comparison) compare(in string, first, second bson.RawValue) []string {
	c.found = nil
	if !c.sameRefusal(in, first, second) {
		c.value([]string{in}, c.withoutRows(in, first), c.withoutRows(in, second))
	}
	return c.found
}

// counts reports whether an entry counts for the release.
func (c *comparison) counts(since string) bool { return since == "" || c.release >= since }

// sameRefusal reports whether two errors are listed as two texts of one refusal.
func (c *comparison) sameRefusal(in string, first, second bson.RawValue) bool {
	a, isA := first.DocumentOK()
	b, isB := second.DocumentOK()
	if !isA || !isB {
		return false
	}
	one, _ := a.Lookup("errmsg").StringValueOK()
	other, _ := b.Lookup("errmsg").StringValueOK()
	for _, r := range c.Refusals {
		if r.In == in && c.counts(r.Since) && strings.Contains(one, r.First) && strings.Contains(other, r.Second) {
			return true
		}
	}
	return false
}

// withoutRows removes the rows of a dump that one side does not have.
func (c *comparison) withoutRows(in string, v bson.RawValue) bson.RawValue {
	for _, r := range c.Rows {
		if r.In != in || !c.counts(r.Since) || v.Type != bson.TypeArray {
			continue
		}
		rows, _ := v.Array().Values()
		rows = slices.DeleteFunc(rows, func(row bson.RawValue) bool {
			what, _ := row.Document().Lookup("what").StringValueOK()
			return slices.Contains(strings.Fields(r.What), what)
		})
		t, value, err := bson.MarshalValue(rows)
		if err != nil {
			panic(err) // rows that were read
		}
		v = bson.RawValue{Type: t, Value: value}
	}
	return v
}

func (c *comparison) differ(path []string, format string, a ...any) {
	c.found = append(c.found, strings.Join(path, ".")+" "+cut(fmt.Sprintf(format, a...), 500))
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}

// as is how a field is compared; "" exactly.
func (c *comparison) as(path []string) string {
	name := path[len(path)-1]
	for _, f := range c.Fields {
		if f.In != "" && !slices.Contains(strings.Fields(f.In), path[0]) || !c.counts(f.Since) {
			continue
		}
		prefix, some := strings.CutSuffix(f.Field, "*")
		if some && strings.HasPrefix(name, prefix) || slices.Contains(strings.Fields(f.Field), name) {
			return f.As
		}
	}
	return ""
}

func (c *comparison) value(path []string, a, b bson.RawValue) {
	as := c.as(path)
	switch {
	case as == "ignored":
	case a.Type != b.Type:
		c.differ(path, "is %s %s and %s %s", a.Type, a, b.Type, b)
	case as == "type":
	case as == "paired":
		if !c.pair(a, b) {
			c.differ(path, "is %s and %s, which stand for others already", a, b)
		}
	case a.Type == bson.TypeEmbeddedDocument:
		c.document(path, a.Document(), b.Document())
	case a.Type == bson.TypeArray:
		c.array(path, a, b)
	case a.Type == bson.TypeString:
		c.text(path, a.StringValue(), b.StringValue())
	case !bytes.Equal(a.Value, b.Value):
		c.differ(path, "is %s and %s", a, b)
	}
}

// document compares fields by name, and the order of those that both have.
func (c *comparison) document(path []string, a, b bson.Raw) {
	ea, _ := a.Elements()
	eb, _ := b.Elements()
	var orderA, orderB []string
	for _, e := range ea {
		at := append(slices.Clone(path), e.Key())
		if c.as(at) == "ignored" {
			continue
		}
		other, err := b.LookupErr(e.Key())
		if err != nil && c.as(at) == "unless empty" && isEmpty(e.Value()) {
			continue
		}
		if err != nil {
			c.differ(at, "is %s and is missing in the second", e.Value())
			continue
		}
		orderA = append(orderA, e.Key())
		c.value(at, e.Value(), other)
	}
	for _, e := range eb {
		at := append(slices.Clone(path), e.Key())
		if c.as(at) == "ignored" {
			continue
		}
		if _, err := a.LookupErr(e.Key()); err != nil {
			if c.as(at) == "unless empty" && isEmpty(e.Value()) {
				continue
			}
			c.differ(at, "is missing in the first and is %s", e.Value())
			continue
		}
		orderB = append(orderB, e.Key())
	}
	if !slices.Equal(orderA, orderB) && c.order(path) == nil {
		c.differ(path, "has its fields in another order: %v and %v", orderA, orderB)
	}
}

// isEmpty reports whether a value says no more than a missing one.
func isEmpty(v bson.RawValue) bool {
	if isTrue, ok := v.BooleanOK(); ok {
		return !isTrue
	}
	a, ok := v.ArrayOK()
	values, err := a.Values()
	return ok && err == nil && len(values) == 0
}

func (c *comparison) array(path []string, a, b bson.RawValue) {
	va, _ := a.Array().Values()
	vb, _ := b.Array().Values()
	if by := c.order(path); by != nil {
		sortBy(va, *by)
		sortBy(vb, *by)
	}
	if len(va) != len(vb) {
		c.differ(path, "has %d and %d items", len(va), len(vb))
	}
	for i := range min(len(va), len(vb)) {
		c.value(path, va[i], vb[i])
	}
}

// order says by which field the items of an array are sorted before they are compared; nil if their
// order, or that of the fields of a document, has to be the same.
func (c *comparison) order(path []string) *string {
	for _, o := range c.Order {
		if o.Field == path[len(path)-1] && (o.In == "" || slices.Contains(strings.Fields(o.In), path[0])) {
			return &o.By
		}
	}
	return nil
}

func sortBy(all []bson.RawValue, field string) {
	slices.SortStableFunc(all, func(a, b bson.RawValue) int {
		da, isA := a.DocumentOK()
		db, isB := b.DocumentOK()
		if !isA || !isB {
			return 0
		}
		return cmp.Compare(da.Lookup(field).String(), db.Lookup(field).String())
	})
}

// pair binds two values to each other, or says whether they are.
func (c *comparison) pair(a, b bson.RawValue) bool {
	if !c.bind(string(a.Type)+string(a.Value), string(b.Type)+string(b.Value)) {
		return false
	}
	// Object ids and uuids also occur in texts.
	if x, ok := a.ObjectIDOK(); ok {
		c.bind(x.Hex(), b.ObjectID().Hex())
	}
	if _, x, ok := a.BinaryOK(); ok && len(x) == 16 {
		if _, y := b.Binary(); len(y) == 16 {
			c.bind(uuidText(x), uuidText(y))
		}
	}
	return true
}

func uuidText(u []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

func (c *comparison) bind(a, b string) bool {
	if other, known := c.second[a]; known {
		return other == b
	}
	if _, known := c.first[b]; known {
		return false
	}
	c.second[a], c.first[b] = b, a
	return true
}

// madeUp are the parts of a text that servers make up. An object id of a row is in both texts.
var madeUp = regexp.MustCompile(`\b[0-9a-f]{24}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|` +
	`Timestamp\(\d+, \d+\)|127\.0\.0\.1:\d+|\b[\w-]+:2\d{4}\b|\d+\|\d+\|\|[0-9a-f]{24}`)

func (c *comparison) text(path []string, a, b string) {
	if a == b {
		return
	}
	pa, pb := madeUp.FindAllString(a, -1), madeUp.FindAllString(b, -1)
	if madeUp.ReplaceAllString(a, "*") != madeUp.ReplaceAllString(b, "*") || len(pa) != len(pb) {
		c.differ(path, "is %q and %q", a, b)
		return
	}
	for i := range pa {
		if pa[i] != pb[i] && !c.bind(pa[i], pb[i]) {
			c.differ(path, "is %q and %q: %s does not stand for %s", a, b, pa[i], pb[i])
			return
		}
	}
}

func TestWalkIsComparedWithoutWhatServersMakeUp(t *testing.T) {
	value := func(text string) bson.RawValue {
		var d bson.Raw
		must.Do(t, bson.UnmarshalExtJSON([]byte(text), true, &d))
		return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: d}
	}
	c := newComparison(t, "8.0")
	for _, x := range []struct{ first, second, want string }{
		{`{"ok": 1, "operationTime": 3}`, `{"ok": 1}`, ""},
		{`{"uuid": "a"}`, `{"uuid": "b"}`, ""},
		{`{"uuid": "a"}`, `{"uuid": "c"}`, "split.uuid is"},
		{`{"uuid": "d"}`, `{"uuid": "b"}`, "split.uuid is"},
		{`{"n": 1}`, `{"n": 2}`, "split.n is"},
		{`{"n": 1}`, `{"n": "1"}`, "split.n is"},
		{`{"n": 1}`, `{}`, "split.n is"},
		{`{}`, `{"n": 1}`, "split.n is missing in the first"},
		{`{"a": 1, "b": 1}`, `{"b": 1, "a": 1}`, "split has its fields in another order"},
		{`{"a": [1, 2]}`, `{"a": [1]}`, "split.a has 2 and 1 items"},
		{`{"millis": 1}`, `{"millis": 2}`, ""},
		{`{"errmsg": "epoch 6b0a8ea6fc88ea3fdb54a19e"}`, `{"errmsg": "epoch 6b0a8ea6fc88ea3fdb54a19f"}`, ""},
		{`{"errmsg": "epoch 6b0a8ea6fc88ea3fdb54a19e"}`, `{"errmsg": "epoch 6b0a8ea6fc88ea3fdb54a100"}`, "split.errmsg is"},
		{`{"errmsg": "no chunk"}`, `{"errmsg": "no chunks"}`, "split.errmsg is"},
	} {
		got := strings.Join(c.compare("split", value(x.first), value(x.second)), "; ")
		expect.That(t, (got == "") == (x.want == "") && strings.HasPrefix(got, x.want),
			"%s and %s: %q, want %q", x.first, x.second, got, x.want)
	}
}
