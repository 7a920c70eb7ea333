package overview_test

import (
	"strings"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

func TestPastBalancerRoundsAreNotKeptRatherThanForbidden(t *testing.T) {
	x := webtest.NewPastServer(t)
	at := x.Now
	x.Move(4, "shard-rs-2")
	text := x.Page(t, "/?at="+answer.AtText(at)).Find("main").Text()
	expect.That(t, strings.Contains(text, "not kept") && !strings.Contains(text, "not permitted"), "%s", text)
}
