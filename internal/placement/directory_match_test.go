package placement

import (
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

// TestASearchRanksProjectsTheSameEverywhere: lists and the palette name the same project first.
func TestASearchRanksProjectsTheSameEverywhere(t *testing.T) {
	named := func(i byte, name, key string) Project {
		return Project{DB: db, ID: oid(i), Name: name, PublicKey: key}
	}
	d := NewDirectory(1, []string{db}, []Project{
		named(1, "my boards", "aaaaAAAA"), named(2, "Boards", "bbbbBBBB"), named(3, "boards-2", "ccccCCCC"), named(4, "other", "boardsKEY"),
		named(5, oid(4).Hex(), "ddddDDDD"),
	}, topology.Health{})
	for _, c := range []struct{ text, want string }{
		{"boards", "Boards, boards-2, other, my boards"},
		{" BOARDS ", "Boards, boards-2, other, my boards"},
		{"boards my", "my boards"},
		{"bbbbbbbb", "Boards"},
		{oid(2).Hex(), "Boards"},
		{oid(4).Hex(), oid(4).Hex() + ", other"},
		{"nothing", ""},
	} {
		var names []string
		found := d.Search(c.text)
		for _, p := range found {
			names = append(names, p.Name)
		}
		expect.Equal(t, strings.Join(names, ", "), c.want, "what %q finds", c.text)
		best := d.Match(strings.Fields(strings.ToLower(c.text)), 1)
		if len(found) > 0 && (!slices.Equal(best.Items, found[:1]) || best.More != len(found)-1) {
			t.Errorf("%q: the palette has %v and %d more, the list %q", c.text, best.Items, best.More, names)
		}
	}
	expect.Equal(t, len(d.Search(" ")), 5, "a text without words does not list all")
}
