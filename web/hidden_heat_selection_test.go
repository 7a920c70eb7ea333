package web_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
)

func TestViewerSelectsInTheHeatMapWithoutSeeingBounds(t *testing.T) {
	s, v := chunkTrouble(t)
	pictureOf := func(role auth.Role) (m api.HeatMap) {
		must.Do(t, json.Unmarshal([]byte(bodySeen(seenBy(s, role), "/api/v1/heat/map")), &m))
		return m
	}
	m := pictureOf(auth.Viewer)
	own := map[string]bool{}
	for _, r := range pictureOf(auth.Support).Rows {
		own[r.Key] = true
	}
	for _, r := range m.Rows {
		if own[r.Key] {
			t.Errorf("the key %q of a row is the same for those who see its bound, so a guess can be checked", r.Key)
		}
	}
	last := m.Columns[len(m.Columns)-1]
	q := url.Values{"rows": {m.Rows[0].Key + "," + m.Rows[len(m.Rows)-1].Key}, "from": {m.Columns[0].From.Format("2006-01-02T15:04:05Z")},
		"to": {last.From.Add(heat.Tick).Format("2006-01-02T15:04:05Z")}}
	body := bodySeen(seenBy(s, auth.Viewer), "/heat?"+q.Encode())
	expect.LacksAll(t, body, boundTexts(v), "the selection shows a viewer")
	if !strings.Contains(body, "of all counted in the collection") || strings.Contains(body, `href=""`) {
		t.Errorf("the selection of a viewer: %.2000s", body[max(strings.Index(body, `id="heat-selection"`), 0):])
	}
}
