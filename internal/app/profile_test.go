package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const (
	tenants = 6
	orders  = 40 // of each tenant
)

// fillShop writes the data of docs/profiles/shop.yaml: tenants with a name and a secret,
// orders by tenant, order lines by order.
func fillShop(t *testing.T, driver *mongo.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	admin := func(cmd bson.D) { t.Helper(); must.Do(t, driver.Database("admin").RunCommand(ctx, cmd).Err()) }
	one, hashed := int32(1), "hashed"
	admin(bson.D{{Key: "enableSharding", Value: "shop"}})
	admin(bson.D{{Key: "shardCollection", Value: "shop.orders"}, {Key: "key", Value: bson.D{{Key: "tenant_id", Value: one}}}})
	admin(bson.D{{Key: "shardCollection", Value: "shop.order_lines"}, {Key: "key", Value: bson.D{{Key: "order_id", Value: hashed}}}})
	admin(bson.D{{Key: "shardCollection", Value: "shop.customers"}, {Key: "key", Value: bson.D{{Key: "tenant_id", Value: one}}}}) // drifted
	db := driver.Database("shop")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range tenants {
		tenant := bson.NewObjectIDFromTimestamp(now.Add(time.Duration(i) * time.Hour))
		_, err := db.Collection("tenants").InsertOne(ctx, bson.D{{Key: "_id", Value: tenant}, {Key: "name", Value: fmt.Sprintf("tenant-%d", i)},
			{Key: "label", Value: fmt.Sprintf("label-%d", i)}, {Key: "order_count", Value: int64(orders)}, {Key: "created_at", Value: now},
			{Key: "secret", Value: "never to be read"}})
		must.Do(t, err)
		if i == tenants/2 {
			admin(bson.D{{Key: "split", Value: "shop.orders"}, {Key: "middle", Value: bson.D{{Key: "tenant_id", Value: tenant}}}})
			admin(bson.D{{Key: "moveChunk", Value: "shop.orders"}, {Key: "find", Value: bson.D{{Key: "tenant_id", Value: tenant}}},
				{Key: "to", Value: "shard-rs-2"}})
		}
		var rows, lines []any
		for k := range orders {
			id := bson.NewObjectID()
			row := bson.D{{Key: "_id", Value: id}, {Key: "tenant_id", Value: tenant}, {Key: "number", Value: fmt.Sprintf("2026-%04d", k)}}
			if k == 7 {
				row = append(row, bson.E{Key: "cancelled_at", Value: now})
			}
			rows = append(rows, row)
			lines = append(lines, bson.D{{Key: "tenant_id", Value: tenant}, {Key: "order_id", Value: id}, {Key: "sku", Value: "a"}})
		}
		must.Do(t, must.Err(db.Collection("orders").InsertMany(ctx, rows)))
		must.Do(t, must.Err(db.Collection("order_lines").InsertMany(ctx, lines)))
		_, err = db.Collection("customers").InsertOne(ctx, bson.D{{Key: "tenant_id", Value: tenant}, {Key: "email_name", Value: "jo"}})
		must.Do(t, err)
	}
	_, err := db.Collection("tenants").InsertOne(ctx, bson.D{{Key: "_id", Value: "by-text"}, {Key: "name", Value: "tenant-by-text"}})
	must.Do(t, err)
	must.Do(t, must.Err(db.Collection("settings").InsertOne(ctx, bson.D{{Key: "a", Value: 1}})))
}

func TestAShopIsShownWithItsOwnProfile(t *testing.T) {
	only.Long(t, "starts a whole demo")
	p, err := profile.Read("../../docs/profiles/shop.yaml")
	must.Do(t, err)
	d := startDemoOver(t, simcluster.Options{Empty: true, Still: true}, topology.Options{}, p, func(c *mongo.Client) { fillShop(t, c) })

	var list struct {
		Items []struct {
			ID, Name, PublicKey string
			Documents           struct{ Value int64 }
			Spread              []struct {
				NS     string
				Shards []string
				Exact  bool
			}
		}
	}
	d.getJSON(t, "api/v1/projects", &list)
	must.That(t, len(list.Items) == tenants+1 && list.Items[0].Name == "tenant-0" && list.Items[0].PublicKey == "label-0" &&
		list.Items[0].Documents.Value == orders, "unexpected list: %+v", list.Items)
	if s := list.Items[tenants-1].Spread; s[0].NS != "shop.orders" || !s[0].Exact || !slices.Equal(s[0].Shards, []string{"shard-rs-2"}) {
		t.Errorf("spread of the last tenant: %+v", s)
	}
	for path, says := range map[string][]string{
		"projects":                         {"tenant-3", "Orders", "order_lines are not placed by project", "tenant-by-text"},
		"projects/" + list.Items[0].ID:     {"one row per order", "what was ordered", "Orders", "On shard-rs-1: orders and customers"},
		"locate?q=" + "tenant-3/2026-0004": {"Order", "order_lines", "shard-rs-2"},
		"locate?q=" + "label-2":            {"tenant-2"},
		"layout": {"1 collection is not sharded like shop",
			"customers is sharded by {tenant_id: 1} and should be by"},
		"":                                   {"customers is sharded by {tenant_id: 1}; the layout has"},
		"collections/shop.orders":            {"2 chunks"},
		"api/v1/layout":                      {`{refineCollectionShardKey: `, `\"shop.customers\"`},
		"api/v1/projects?q=tenant-5":         {"tenant-5"},
		"api/v1/locate?q=tenant-1/2026-0007": {`"removed":true`},
	} {
		_, body := d.get(t, path)
		text := strings.NewReplacer("&#34;", `"`, "&#39;", "'").Replace(string(body))
		for _, s := range says {
			expect.That(t, strings.Contains(text, s) || strings.Contains(textOfPage(text), s), "/%s does not say %q", path, s)
		}
		expect.That(t, !strings.Contains(text, "never to be read") && !strings.Contains(text, "Yorkie document"),
			"/%s contains a secret or mentions Yorkie documents", path)
	}
	// An id that is no ObjectID is shown as it is stored, and what stands for it is not taken apart.
	_, page := d.get(t, "locate?q=tenant-by-text")
	text := textOfPage(string(page))
	expect.That(t, strings.Contains(text, "id by-text") && !strings.Contains(text, "ffff") && !strings.Contains(text, "What the id contains"),
		"the tenant with a text as id: %s", text)
}

// textOfPage returns the text of a page with single spaces.
func textOfPage(html string) string {
	var b strings.Builder
	in := false
	for _, c := range html {
		switch {
		case c == '<':
			in = true
		case c == '>':
			in = false
			b.WriteByte(' ')
		case !in:
			b.WriteRune(c)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// Without a matching profile, pages that need no profile work and the others explain why
// they do not.
func TestDataWithoutAMatchingProfileIsShown(t *testing.T) {
	only.Long(t, "starts a whole demo")
	d := startDemoOver(t, simcluster.Options{Empty: true, Still: true}, topology.Options{}, nil, func(c *mongo.Client) { fillShop(t, c) })
	for path, says := range map[string]string{
		"":                                      "shard-rs-3",
		"collections":                           "orders",
		"collections/shop.orders":               "2 chunks",
		"shards/shard-rs-2":                     "orders",
		"zones":                                 "There are no zones",
		"activity":                              "Split",
		"projects":                              "No database has both collections, projects and documents",
		"layout":                                "No database holds projects",
		"api/v1/collections":                    "shop.order_lines",
		"api/v1/layout":                         `"items":[]`,
		"api/v1/projects":                       `"items":[]`,
		"api/v1/collections/shop.orders/chunks": "tenant_id",
		"api/v1/collections/shop.orders/map":    "runs",
		"api/v1/zones":                          `"items":[]`,
		"api/v1/locate?ns=shop.order_lines&key=" + url.QueryEscape(`{"order_id":{"$oid":"65e1c0ffee00000000000001"}}`): `"hash"`,
		"readyz": "",
	} {
		res, body := d.get(t, path)
		expect.That(t, res.StatusCode == http.StatusOK && strings.Contains(textOfPage(string(body))+string(body), says),
			"GET /%s: %s, does not say %q", path, res.Status, says)
	}
	res, body := d.get(t, "api/v1/locate?q=tenant-1")
	expect.That(t, res.StatusCode == http.StatusNotFound && strings.Contains(string(body), "none here holds projects"),
		"locate: %s %s", res.Status, body)
}
