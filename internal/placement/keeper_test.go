package placement

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

func names(d *Directory) []string {
	var out []string
	for _, p := range d.All() {
		out = append(out, p.Name)
	}
	return out
}

func TestKeeperSeesNewProjectsInTenSecondsAndRenamedOnesInAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &fakeSource{projects: []ProjectRow{{ID: oid(1), Name: "one"}}}
		k := NewKeeper(src, fixedTable{t: testTable()}, profile.Yorkie(), slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		expect.That(t, !k.Directory().Loaded(), "the directory is loaded before the first read")
		go k.Run(ctx)
		synctest.Wait()
		d, changed, stop := k.Subscribe()
		defer stop()
		if !d.Loaded() || !slices.Equal(names(d), []string{"one"}) {
			t.Fatalf("after the first read: %v", names(d))
		}
		src.setProjects([]ProjectRow{{ID: oid(1), Name: "uno"}, {ID: oid(2), Name: "two"}}, nil)
		time.Sleep(11 * time.Second)
		expect.EqualSlices(t, names(k.Directory()), []string{"one", "two"}, "after ten seconds")
		select {
		case <-changed:
		default:
			t.Error("subscribers were not notified")
		}
		time.Sleep(time.Minute)
		expect.EqualSlices(t, names(k.Directory()), []string{"two", "uno"}, "after a minute")
		seq := k.Directory().Seq()
		time.Sleep(5 * time.Minute)
		expect.Equal(t, k.Directory().Seq(), seq, "unchanged projects were published again")
	})
}

func TestKeeperKeepsItsProjectsWhenReadsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &fakeSource{projects: []ProjectRow{{ID: oid(1), Name: "one"}}}
		k := NewKeeper(src, fixedTable{t: testTable()}, profile.Yorkie(), slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go k.Run(ctx)
		synctest.Wait()
		src.setProjects(src.projects,
			fault.Wrap(fault.Forbidden, &topology.DeniedError{Privilege: "find on yorkie-meta.projects"}, "not authorized"))
		time.Sleep(11 * time.Second)
		d := k.Directory()
		if !slices.Equal(names(d), []string{"one"}) || d.Health().Err == nil || !d.Health().Denied {
			t.Errorf(`got %v %+v, want the project "one" and a denied read`, names(d), d.Health())
		}
		expect.Equal(t, d.Health().Privilege, "find on yorkie-meta.projects", "privilege")
		src.setProjects(src.projects, nil)
		time.Sleep(11 * time.Second)
		expect.That(t, k.Directory().Health().Err == nil, "still failing after the cluster answers again")
	})
}

func rawOf(t *testing.T, v any) bson.RawValue {
	t.Helper()
	kind, data, err := bson.MarshalValue(v)
	must.Do(t, err)
	return bson.RawValue{Type: kind, Value: data}
}

func TestIDsOfEveryTypeHaveOneIDAndKeepTheirValue(t *testing.T) {
	id := must.Get(bson.ObjectIDFromHex("6920b0c1d2e3f40516273849"))
	uuid := bson.Binary{Subtype: 4, Data: []byte{0x20, 0xbe, 0x0f, 0xfc, 0x31, 0x4a, 0xbd, 0x53, 0x7a, 0x50, 1, 0x3a, 0x65, 0xca, 0x76, 0xd2}}
	for _, tc := range []struct {
		value   any
		text    string
		standIn bool
	}{
		{id, id.Hex(), false},
		{id.Hex(), id.Hex(), false},
		{"acme", "acme", true},
		{"", "", true},
		{int32(7), "7", true},
		{int64(7), "7", true},
		{7.0, "7", true},
		{uuid, "20be0ffc-314a-bd53-7a50-013a65ca76d2", true},
	} {
		v := rawOf(t, tc.value)
		got, stored, ok := IDOf(v)
		if !ok || IsStandIn(got) != tc.standIn || stored.Text(got) != tc.text || !stored.Value(got).Equal(v) {
			t.Errorf("%v: got %s, %v, %q, %v", tc.value, got.Hex(), IsStandIn(got), stored.Text(got), stored.Value(got))
		}
	}
	seven, _, _ := IDOf(rawOf(t, int32(7)))
	double, _, _ := IDOf(rawOf(t, 7.0))
	text, _, _ := IDOf(rawOf(t, "7"))
	expect.That(t, seven == double && seven != text, "7 is %s and %s, \"7\" is %s", seven.Hex(), double.Hex(), text.Hex())
	expect.Equal(t, seven.Hex(), "ffffcc968ae6ab2a5d8f5002", "7 has another id than before")
	for _, v := range []any{bson.Null{}, bson.A{1}, bson.MinKey{}} {
		if _, _, ok := IDOf(rawOf(t, v)); ok {
			t.Errorf("%v is an id", v)
		}
	}
}

func TestProjectIsFoundByTheTextOfItsID(t *testing.T) {
	id, stored, _ := IDOf(rawOf(t, int64(42)))
	d := NewDirectory(1, []string{"shop"}, []Project{{DB: "shop", ID: id, Stored: stored, Name: "Answer"}}, topology.Health{})
	if got := d.Exactly("42"); len(got) != 1 || !got[0].IDValue().Equal(rawOf(t, int64(42))) {
		t.Errorf("got %+v", got)
	}
	if v := d.Value("shop", id); v.Type != bson.TypeInt64 {
		t.Errorf("got %v", v)
	}
}
