package zones_test

import (
	"net/url"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

// A range is changed in its row: its link makes the row a form, whose fields are what a plan needs. It is offered to
// those who may make plans only, and there is no other button for it.
func TestZonesAreEditedInTheirRows(t *testing.T) {
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		c.Admin(bson.D{{Key: "addShardToZone", Value: "shard-rs-1"}, {Key: "zone", Value: "eu"}})
		c.Admin(bson.D{{Key: "updateZoneKeyRange", Value: "app.users"}, {Key: "min", Value: bson.D{{Key: "p", Value: 0}}},
			{Key: "max", Value: bson.D{{Key: "p", Value: 10}}}, {Key: "zone", Value: "eu"}})
		c.Must(c.Watcher.Refresh(c.Context()))
		open := func(path string, role auth.Role) *goquery.Document {
			return c.Page(c.T, path, webtest.As("anna", role))
		}
		page := open("/zones", auth.Operator)
		links := page.Find(".may-edit #live-zones td.edit a")
		must.That(t, links.Length() == 2 && page.Find(".acts a[href*=zone-remove]").Length() == 0,
			"%d rows can be edited, %d buttons remove", links.Length(), page.Find(".acts a[href*=zone-remove]").Length())
		address := links.Last().AttrOr("href", "")
		for path, role := range map[string]auth.Role{"/zones": auth.Viewer, address: auth.Viewer} {
			expect.Equal(t, open(path, role).Find(".may-edit, #live-zones form").Length(), 0, "%s lets a viewer edit", path)
		}
		row := open(address, auth.Operator)
		form := row.Find("#live-zones form#zone-edit")
		must.That(t, form.Length() == 1 && row.Find("#live-zones").AttrOr("data-live-url", "") == address,
			"%d forms; the row does not stay a form when something changes", form.Length())
		fields := url.Values{"reason": {"a test"}}
		row.Find("#zone-edit input[type=hidden], input[form=zone-edit], [form=zone-edit] option[selected]").Each(
			func(_ int, f *goquery.Selection) {
				fields.Set(f.AttrOr("name", f.Parent().AttrOr("name", "")), f.AttrOr("value", ""))
			})
		must.That(t, fields.Get("zone") == "eu" && fields.Get("ns") == "app.users", "the form has %v", fields)
		fields.Set("max", `{"p": 20}`)
		fields.Set("kind", form.Find("button").First().AttrOr("value", ""))
		w := c.Do("POST", "/plans", webtest.As("anna", auth.Operator), webtest.EncodedForm(fields.Encode()))
		must.That(t, w.Code == 303, "%d %.300s", w.Code, w.Body)
	})
}
