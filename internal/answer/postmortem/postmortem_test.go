package postmortem

import (
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
)

func TestALineOfAChangeIsOneSentence(t *testing.T) {
	text := PostmortemMarkdown(api.Postmortem{Changes: []api.PostmortemChange{{Text: "failed: a move. Look at the logs.", By: "balancer"}}})
	expect.Contains(t, text, "failed: a move. Look at the logs, by: balancer\n", "the post-mortem")
}
