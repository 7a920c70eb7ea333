package memory

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"shardboard/internal/fixture/expect"
)

func TestContainerLimitIsReadFromControlGroups(t *testing.T) {
	const v2, v1 = "sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"
	for _, tc := range []struct {
		name, text string
		want       int64
	}{{v2, "536870912\n", 512 << 20}, {v2, "max\n", 0}, {v1, "1073741824", 1 << 30}, {v1, "9223372036854771712", 0}, {v2, "x", 0}} {
		if got := Container(fstest.MapFS{tc.name: {Data: []byte(tc.text)}}); got.Bytes != tc.want {
			t.Errorf("%s %q: %+v", tc.name, tc.text, got)
		}
	}
	expect.Equal(t, Container(fstest.MapFS{}), Limit{}, "without files")
}

func TestLimitsThatPeopleWrite(t *testing.T) {
	for text, want := range map[string]int64{"512MiB": 512 << 20, "2GB": 2e9, "1.5GiB": 3 << 29, "536870912": 512 << 20, "1MiB": -1,
		"x": -1, "": -1, "NaN": -1, "off": 0} {
		got, off, err := Parse(text)
		if err != nil {
			got = -1
		}
		expect.That(t, got == want && off == (text == "off"), "%q: %d, %v, %v", text, got, off, err)
	}
}

// What is given up follows the heap in the stated order and comes back; garbage does not count; what does not fit is
// refused before it is there.
func TestGuardGivesUpInOrder(t *testing.T) {
	var live, garbage int64
	now := time.Unix(1, 0)
	g := NewGuard(Limit{1000 << 20, "--memory-limit"}, func() int64 { return live + garbage }, func() { garbage = 0 },
		func() time.Time { now = now.Add(2 * cleanEvery); return now })
	for _, tc := range []struct {
		live int64
		want Step
		says string
	}{{500, All, ""}, {610, Heat, "no rows"}, {690, History, "past times"}, {750, Map, "slower"}, {810, Routing, "do not grow"},
		{4000, Routing, ""}, {650, Heat, ""}, {100, All, ""}} {
		live, garbage = tc.live<<20, 5000<<20
		st := g.State()
		if st.Step != tc.want || !strings.Contains(st.Text(), tc.says) || (st.Step == All) != (st.Text() == "") {
			t.Errorf("%d MiB: %+v %q", tc.live, st, st.Text())
		}
	}
	live = 700 << 20
	if left, ok := g.Grow(50 << 20); !ok || left != 100<<20 {
		t.Error(left, ok)
	}
	if left, ok := g.Grow(101 << 20); ok || left != 100<<20 || g.State().Refused != 1 {
		t.Error(left, ok)
	}
	var none *Guard
	if _, ok := none.Grow(1 << 60); !ok || none.State() != (State{}) || none.Step() != All {
		t.Error("no limit refuses")
	}
}
