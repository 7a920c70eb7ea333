package answer_test

import (
	"bytes"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/history"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// TestStepsOfRunsAreToldWithoutServersTexts, also those that were recorded before
// the two were told apart.
func TestStepsOfRunsAreToldWithoutServersTexts(t *testing.T) {
	const sentence = `The cluster refused to move the chunk: "Failed to delete orphaned range {_id: 17} on host-3".`
	for _, c := range []struct {
		step engine.Step
		want string
	}{
		{engine.Step{}, ""},
		{engine.Step{Error: "No answer.", Brief: "No answer."}, "No answer."},
		{engine.Step{Error: sentence, Brief: "The cluster refused to move the chunk: OperationFailed (96)."},
			"The cluster refused to move the chunk: OperationFailed (96). Failed to delete orphaned (the server's full text needs the role " +
				"operator)"},
		{engine.Step{Error: sentence}, "Failed to delete orphaned (the server's full text needs the role operator)"},
		{engine.Step{Error: "host-3 said no"}, "hidden: the server's text needs the role operator"},
	} {
		v := answer.View{Table: &topology.Table{}, Hidden: answer.Hidden{Texts: true}}
		got := v.Run(engine.Run{Steps: []engine.Step{c.step}}).Steps[0].Error
		expect.That(t, got == c.want && history.CodeOf(got) == history.CodeOf(c.step.Error), "%+v is told as %q", c.step, got)
	}
}

func TestServersTextsAreHiddenInDetails(t *testing.T) {
	const secret = "host-3 {_id: 17}"
	plain := webtest.Must(
		bson.Marshal(bson.D{{Key: "from", Value: "a"}, {Key: "note", Value: "aborted"}, {Key: "counts", Value: bson.D{{Key: "cloned", Value: 3}}},
			{Key: "min", Value: bson.D{{Key: "message", Value: "a key"}}}}),
	)
	if got := answer.HideInDetails(plain); !bytes.Equal(got, plain) {
		t.Errorf("%s became %s", bson.Raw(plain), got)
	}
	for _, doc := range []bson.D{
		{{Key: "errmsg", Value: secret}}, {{Key: "note", Value: "aborted: " + secret}}, {{Key: "ErrMsg", Value: secret}},
		{{Key: "why", Value: bson.D{{Key: "reason", Value: secret}}}}, {{Key: "all", Value: bson.A{bson.D{{Key: "error", Value: secret}}}}},
	} {
		raw := webtest.Must(bson.Marshal(doc))
		if got := answer.HideInDetails(raw); strings.Contains(got.String(), "host-3") || !strings.Contains(got.String(), "role operator") {
			t.Errorf("%s became %s", bson.Raw(raw), got)
		}
	}
	if got := answer.HideInDetails(bson.Raw{9, 0, 0, 0, 1}); got != nil {
		t.Errorf("damaged details become %v", got)
	}
	for _, text := range []string{"ConflictingOperationInProgress: " + secret, "the chunk is too big to move " + secret, secret} {
		if got := answer.HideText(text); strings.Contains(got, "17") || strings.Contains(got, "host-3") ||
			history.CodeOf(got) != history.CodeOf(text) {
			t.Errorf("%q became %q", text, got)
		}
	}
	expect.Equal(t, answer.HideText(""), "", "no text became one")
}
