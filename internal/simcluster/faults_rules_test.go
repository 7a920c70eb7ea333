package simcluster

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestRuleAppliesToTheOccurrencesItNames(t *testing.T) {
	ping := func(s *faultFixture) string {
		var out strings.Builder
		for range 6 {
			if err := s.run("admin", d("balancerStatus", 1)); err != nil {
				out.WriteByte('x')
			} else {
				out.WriteByte('.')
			}
			time.Sleep(time.Second)
		}
		return out.String()
	}
	for _, c := range []struct {
		rule Rule
		want string
	}{
		{Rule{}, "x....."},
		{Rule{Nth: 3}, "..x..."},
		{Rule{Nth: 2, Times: 2}, ".xx..."},
		{Rule{Times: -1}, "xxxxxx"},
		{Rule{For: 2500 * time.Millisecond}, "xxx..."},
		{Rule{Nth: 2, For: 1500 * time.Millisecond}, ".xx..."},
		{Rule{NS: "app.c", Times: -1}, "......"},
		{Rule{Command: "listShards", Times: -1}, "......"},
		{Rule{Match: func(b bson.Raw) bool { return commandName(b) == "balancerStatus" }, Times: -1}, "xxxxxx"},
		{Rule{Match: func(b bson.Raw) bool { return b.Lookup("comment").Type != 0 }, Times: -1}, "......"},
	} {
		inBubble(t, func(s *faultFixture) {
			t := s.t
			c.rule.At, c.rule.Err = Received, Fail(46)
			rule := s.cluster.Faults().Add(c.rule)
			if got := ping(s); got != c.want {
				t.Errorf("%+v: %s, want %s", c.rule, got, c.want)
			}
			if n := rule.Struck(); n != strings.Count(c.want, "x") {
				t.Errorf("%+v: struck %d times", c.rule, n)
			}
			s.cluster.Faults().Heal()
			if err := s.run("admin", d("balancerStatus", 1)); err != nil {
				t.Errorf("healed: %v", err)
			}
		})
	}
}

func TestCommandsAreSeenAtTheWire(t *testing.T) {
	inBubble(t, func(s *faultFixture) {
		t := s.t
		f := s.cluster.Faults()
		if n := len(f.Seen()); n != 0 {
			t.Fatalf("%d commands of the process itself, want 0", n)
		}
		db, cmd := s.commandChangingState("split")
		must(t, s.run(db, append(cmd, d("comment", "run 7")...)))
		must(t, s.run("config", d("find", "chunks")))
		seen := f.Seen()
		if len(seen) != 1 || seen[0].Name != "split" || seen[0].NS != "app.c" || seen[0].Comment.StringValue() != "run 7" ||
			seen[0].Body.Lookup("middle", "p").Int32() != 150 {
			t.Errorf("seen %+v", seen)
		}
	})
}
