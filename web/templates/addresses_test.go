package templates_test

import (
	"reflect"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/web/templates"
)

func TestAddressesAreCompletedInACopy(t *testing.T) {
	type branch struct {
		To       api.Address
		Branches []*branch
		Text     string
	}
	tree := func(prefix string) branch {
		return branch{To: api.Address(prefix + "/a"), Text: "/text", Branches: []*branch{{To: api.Address(prefix + "/b")}, {}, nil}}
	}
	given := tree("")
	got := templates.Base{Root: "/board", Prefix: "/c/one"}.Addressed(given)
	want := tree("/board/c/one")
	expect.That(t, reflect.DeepEqual(got, want), "%+v, want %+v", got, want)
	expect.That(t, reflect.DeepEqual(given, tree("")), "the answer itself has changed: %+v", given)
}
