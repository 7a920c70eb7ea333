package shardkey

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestPatternsRoundTripAsText(t *testing.T) {
	p := mustPattern("project_id", "_id#", "a.b", "with space")
	if got, want := p.String(), `{project_id: 1, _id: "hashed", "a.b": 1, "with space": 1}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	again, err := ParsePattern(p.Raw())
	if err != nil || !again.Equal(p) || p.Hashed() != 1 || p.Len() != 4 {
		t.Errorf("%s came back as %s, %v", p, again, err)
	}
	for _, other := range []Pattern{{}, mustPattern("project_id", "_id#", "a.b"),
		mustPattern("project_id", "_id", "a.b", "with space")} {
		expect.That(t, !p.Equal(other), "%s equals %s", p, other)
	}
	if !(Pattern{}).IsZero() || p.IsZero() || (Pattern{}).Hashed() != -1 {
		t.Error("the zero pattern is not recognized as such")
	}
}

func TestPatternDirectionMayBeOfAnyNumberType(t *testing.T) {
	for _, one := range []any{1, int64(1), 1.0, 1.9, decimalOf("1.0")} {
		expect.NoError(t, must.Err(ParsePattern(mustDoc(bson.D{{Key: "a", Value: one}}))), "%v", one)
	}
}

func TestPatternsThatNoServerAcceptsAreRefused(t *testing.T) {
	many := bson.D{}
	for i := range 33 {
		many = append(many, bson.E{Key: "f" + strings.Repeat("x", i), Value: 1})
	}
	for name, doc := range map[string]bson.D{
		"empty":        {},
		"descending":   {{Key: "a", Value: -1}},
		"zero":         {{Key: "a", Value: 0}},
		"text":         {{Key: "a", Value: "text"}},
		"no name":      {{Key: "", Value: 1}},
		"empty part":   {{Key: "a..b", Value: 1}},
		"dollar":       {{Key: "a.$b", Value: 1}},
		"twice":        {{Key: "a", Value: 1}, {Key: "a", Value: 1}},
		"two hashed":   {{Key: "a", Value: "hashed"}, {Key: "b", Value: "hashed"}},
		"too many":     many,
		"not a number": {{Key: "a", Value: true}},
	} {
		if p, err := ParsePattern(mustDoc(doc)); fault.Of(err) != fault.Invalid || err == nil {
			t.Errorf("%s: %s, %v, want kind %v", name, p, err, fault.Invalid)
		}
	}
	for _, raw := range []bson.Raw{nil, {}, {5, 0, 0, 0}, {6, 0, 0, 0, 1, 0}, {5, 0, 0, 0, 1}} {
		if _, err := ParsePattern(raw); err == nil || fault.Of(err) != fault.Invalid {
			t.Errorf("% x: %v, want kind %v", raw, err, fault.Invalid)
		}
	}
}

func TestABoundHasExactlyTheFieldsOfThePattern(t *testing.T) {
	p := mustPattern("p", "d.k#")
	id := bson.NewObjectID()
	for _, c := range []struct {
		doc  bson.D
		want string
	}{
		{bson.D{{Key: "p", Value: id}, {Key: "d.k", Value: int64(-7)}}, `{p: ObjectId("` + id.Hex() + `"), "d.k": NumberLong("-7")}`},
		{bson.D{{Key: "p", Value: bson.MinKey{}}, {Key: "d.k", Value: bson.MaxKey{}}}, `{p: MinKey, "d.k": MaxKey}`},
	} {
		k, err := p.Bound(mustDoc(c.doc))
		if err != nil || p.Display(k) != c.want {
			t.Errorf("%v: %s, %v, want p.Display(k) %v", c.doc, p.Display(k), err, c.want)
		}
		if doc, err := p.Document(k); err != nil || string(doc) != string(mustDoc(c.doc)) {
			t.Errorf("%v came back as %s, %v", c.doc, doc, err)
		}
	}
	for _, doc := range []bson.D{
		{},
		{{Key: "p", Value: id}},
		{{Key: "d.k", Value: int64(1)}, {Key: "p", Value: id}},
		{{Key: "p", Value: id}, {Key: "d.k", Value: int64(1)}, {Key: "x", Value: 1}},
		{{Key: "p", Value: id}, {Key: "d", Value: bson.D{{Key: "k", Value: int64(1)}}}},
		{{Key: "p", Value: id}, {Key: "d.k", Value: int32(1)}},
		{{Key: "p", Value: id}, {Key: "d.k", Value: 1.0}},
		{{Key: "p", Value: bson.A{1}}, {Key: "d.k", Value: int64(1)}},
	} {
		if k, err := p.Bound(mustDoc(doc)); err == nil || fault.Of(err) != fault.Invalid || !k.IsZero() {
			t.Errorf("%v: %s, %v", doc, p.Display(k), err)
		}
	}
}

func TestAPrefixBoundIsExtendedWithMinKey(t *testing.T) {
	p := mustPattern("p", "k#")
	short, err1 := p.PrefixBound(mustDoc(bson.D{{Key: "p", Value: "A"}}))
	full, err2 := p.Bound(mustDoc(bson.D{{Key: "p", Value: "A"}, {Key: "k", Value: bson.MinKey{}}}))
	if err1 != nil || err2 != nil || short != full {
		t.Errorf("got %s, %v, want the bound extended with MinKey", p.Display(short), err1)
	}
	expect.That(t, must.Err(p.PrefixBound(mustDoc(bson.D{}))) != nil, "an empty document is a bound")
}

func TestExtractFollowsPathsAndTreatsMissingAsNull(t *testing.T) {
	p := mustPattern("a.b", "h#")
	null := must.Get(p.KeyOf(bson.RawValue{Type: bson.TypeNull}, bson.RawValue{Type: bson.TypeNull}))
	for _, doc := range []bson.D{
		{},
		{{Key: "a", Value: 1}, {Key: "h", Value: nil}},
		{{Key: "a", Value: bson.D{{Key: "c", Value: 1}}}},
		{{Key: "a.b", Value: 1}},
		{{Key: "a", Value: bson.D{{Key: "b", Value: nil}}}},
	} {
		if k, err := p.Extract(mustDoc(doc)); err != nil || k != null {
			t.Errorf("%v: %s, %v", doc, p.Display(k), err)
		}
	}
	k, err := p.Extract(mustDoc(bson.D{{Key: "a", Value: bson.D{{Key: "b", Value: "x"}}}, {Key: "h", Value: bson.MinKey{}}}))
	if err != nil || p.Display(k) != `{"a.b": "x", h: NumberLong("7961148599568647290")}` {
		t.Errorf("got %s, %v, want %q", p.Display(k), err, `{"a.b": "x", h: NumberLong("7961148599568647290")}`)
	}
	for _, doc := range []bson.D{
		{{Key: "a", Value: bson.A{bson.D{{Key: "b", Value: 1}}}}},
		{{Key: "a", Value: bson.D{{Key: "b", Value: bson.A{}}}}},
		{{Key: "h", Value: bson.A{1}}},
	} {
		if _, err := p.Extract(mustDoc(doc)); fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), "array") {
			t.Errorf(`%v: %v, want kind %v, …"array"…`, doc, err, fault.Invalid)
		}
	}
	if _, err := p.Extract(bson.Raw{5, 0, 0, 0}); err == nil || fault.Of(err) != fault.Invalid {
		t.Errorf("half a document: %v, want kind %v", err, fault.Invalid)
	}
	expect.That(t, must.Err((Pattern{}).Extract(mustDoc(bson.D{}))) != nil, "a key without a pattern")
}
