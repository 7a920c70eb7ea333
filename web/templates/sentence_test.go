package templates_test

import (
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/message"
	"shardboard/web/templates"
)

func TestASentenceLinksWhatItNames(t *testing.T) {
	s := templates.Sentences{URL: func(f message.Fact) string {
		if f.Kind == message.KindShard {
			return "/shards/" + f.Value
		}
		return ""
	}}
	m := message.New("x", "Chunk {key} of {ns} is on {shard}, not here.", message.Key("key", `{"a": 1}`),
		message.Namespace("ns", "y.<b>"), message.Shard("shard", "rs1"))
	var out strings.Builder
	must.Do(t, s.Text(m).Render(t.Context(), &out))
	want := `Chunk {&#34;a&#34;: 1} of y.&lt;b&gt; is on <a href="/shards/rs1">rs1</a>, not here.`
	expect.That(t, out.String() == want, "got  %s\nwant %s", out.String(), want)
}
