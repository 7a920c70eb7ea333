package propose_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/madeup"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/profile"
	"shardboard/internal/profile/propose"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// proposed proposes a profile for schemas, and reads its file back.
func proposed(t *testing.T, o propose.Options, test func(t *testing.T, p propose.Proposal), schemas ...madeup.Schema) {
	t.Helper()
	proposedBy(t, func(s propose.Source) propose.Source { return s }, o, test, schemas...)
}

// proposedBy is proposed with another source.
func proposedBy(t *testing.T, by func(propose.Source) propose.Source, o propose.Options, test func(t *testing.T, p propose.Proposal),
	schemas ...madeup.Schema) {
	t.Helper()
	simulated.Run(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, c *simulated.Cluster) {
		driver := must.Get(mongo.Connect(options.Client().ApplyURI(simcluster.URI()).SetDialer(c)))
		defer func() { _ = driver.Disconnect(context.Background()) }()
		for _, s := range schemas {
			s.Fill(func(db string, cmd bson.D) {
				t.Helper()
				must.Do(t, driver.Database(db).RunCommand(t.Context(), cmd).Err())
			})
		}
		table, err := c.Watcher.Load(t.Context())
		must.Do(t, err)
		p, err := propose.Read(t.Context(), by(c.Client), table, o)
		must.Do(t, err)
		if p.Profile != nil {
			back, err := profile.Parse("x.yaml", p.YAML())
			if err != nil {
				t.Fatalf("the file is not read back: %v\n%s", err, p.YAML())
			}
			if dbs := back.Match(table); len(dbs) != 1 || dbs[0] != p.Database {
				t.Errorf("the profile matches %v, want %s", dbs, p.Database)
			}
		}
		test(t, p)
	})
}

// summary is a proposal on a few lines.
func summary(p propose.Proposal) string {
	if p.Profile == nil {
		return "nothing"
	}
	q := p.Profile
	out := []string{fmt.Sprintf("tenant %s listed by %s.%s name %s; documents %s key %s; %s, %s", q.Keys.Project, q.Names.Collection,
		q.Names.IDField(), q.Names.Name, q.Keys.Collection, q.Keys.Key, q.Tenants.Many, q.Called.Many)}
	for _, c := range q.Layouts[0].Collections {
		out = append(out, fmt.Sprintf("%s %s/%s %s", c.Name, c.ProjectField, c.DocumentField, c.Expected))
	}
	for _, t := range p.Tenants {
		line := t.IDText() + " " + t.Name
		for _, h := range t.Holds {
			line += "; " + h.Text()
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestProfileIsProposedForMadeUpSchemas(t *testing.T) {
	for _, tc := range []struct {
		schema madeup.Schema
		want   string
	}{
		{madeup.Shop, `tenant tenantId listed by tenants._id name name; documents orders key orderNumber; Tenants, Orders
orders tenantId/_id {tenantId: 1}
tenants _id/ 
order_items tenantId/orderId {tenantId: 1, _id: 1}
t-7 Shop 7; 24 rows of orders on shard-rs-1; 24 rows of order_items on shard-rs-1
t-6 Shop 6; 21 rows of orders on shard-rs-1; 21 rows of order_items on shard-rs-1
t-5 Shop 5; 18 rows of orders on shard-rs-1; 18 rows of order_items on shard-rs-1
t-4 Shop 4; 15 rows of orders on shard-rs-1; 15 rows of order_items on shard-rs-1
t-3 Shop 3; 12 rows of orders on shard-rs-1; 12 rows of order_items on shard-rs-1`},
		{madeup.Fleet, `tenant region listed by ._id name ; documents devices key deviceId; Regions, Devices
devices region/_id {region: 1, deviceId: 1}
readings region/ {region: 1, deviceId: 1, at: 1}
ap-south ; 15 rows of devices on shard-rs-1; 15 rows of readings on shard-rs-1
us-east ; 10 rows of devices on shard-rs-1; 10 rows of readings on shard-rs-1
eu-west ; 5 rows of devices on shard-rs-1; 5 rows of readings on shard-rs-1`},
		{madeup.Analytics, `tenant userId listed by users._id name username; documents events key _id; Users, Events
events userId/_id {userId: "hashed"}
users _id/ 
UUID("00000000-0000-0000-0000-000000000006") user6; 7 rows of events on shard-rs-3
UUID("00000000-0000-0000-0000-000000000005") user5; 6 rows of events on shard-rs-1
UUID("00000000-0000-0000-0000-000000000004") user4; 5 rows of events on shard-rs-1
UUID("00000000-0000-0000-0000-000000000003") user3; 4 rows of events on shard-rs-2
UUID("00000000-0000-0000-0000-000000000002") user2; 3 rows of events on shard-rs-1`},
		{madeup.CRM, `tenant tenant.id listed by tenants.tenant.id name name; documents deals key deal.number; Tenants, Deals
deals tenant.id/_id {"tenant.id": 1, "deal.number": 1}
tenants tenant.id/ 
deal_notes tenant.id/ {"tenant.id": 1}
visits tenant.id/ {"tenant.id": "hashed"}
t-6 Tenant 6; 14 rows of deals on shard-rs-1; 14 rows of deal_notes on shard-rs-1; 14 rows of visits on shard-rs-3
t-5 Tenant 5; 12 rows of deals on shard-rs-1; 12 rows of deal_notes on shard-rs-1; 12 rows of visits on shard-rs-1
t-4 Tenant 4; 10 rows of deals on shard-rs-1; 10 rows of deal_notes on shard-rs-1; 10 rows of visits on shard-rs-3
t-3 Tenant 3; 8 rows of deals on shard-rs-1; 8 rows of deal_notes on shard-rs-1; 8 rows of visits on shard-rs-2
t-2 Tenant 2; 6 rows of deals on shard-rs-1; 6 rows of deal_notes on shard-rs-1; 6 rows of visits on shard-rs-1`},
		{madeup.Telemetry, `tenant meta.region listed by ._id name ; documents devices key meta.deviceId; Regions, Devices
devices meta.region/_id {"meta.region": 1, "meta.deviceId": 1}
readings meta.region/ {"meta.region": 1, at: 1}
ap-south ; 9 rows of devices on shard-rs-1; 9 rows of readings on shard-rs-1
us-east ; 6 rows of devices on shard-rs-1; 6 rows of readings on shard-rs-1
eu-west ; 3 rows of devices on shard-rs-1; 3 rows of readings on shard-rs-1`},
		{madeup.Dotted, "nothing"},
		{madeup.Files, "nothing"},
	} {
		t.Run(tc.schema.DB, func(t *testing.T) {
			proposed(t, propose.Options{}, func(t *testing.T, p propose.Proposal) {
				if got := summary(p); got != tc.want {
					t.Errorf("got\n%s\nwant\n%s", got, tc.want)
				}
				if strings.Contains(string(p.YAML()), "never") || strings.Contains(string(p.YAML()), "apiKey") {
					t.Errorf("a field that looks like a secret is named:\n%s", p.YAML())
				}
				if err := p.Nothing(); (p.Profile == nil) != (fault.Of(err) == fault.NotFound) {
					t.Errorf("got %v", err)
				}
			}, tc.schema)
		})
	}
}

// Names of collections and fields are other people's text: the file says what they are and nothing more.
func TestHostileNamesDoNotLeaveTheirPlaces(t *testing.T) {
	const tenant, coll = `te"nant's: {id}, [#]`, "or: ders\"'#, {x}"
	evil := madeup.Schema{
		DB: "evil",
		Keys: map[string]bson.D{coll: madeup.Row(tenant, 1, "true", 1), "línea\u2028\U0001F600": madeup.Row(tenant, 1),
			"a\nname: b": madeup.Row(tenant, 1),
			"x.y":        madeup.Row("meta.tenant", 1), "z": madeup.Row("api_key", 1)},
		Unique: map[string]string{"null": tenant},
		Rows: func(insert func(string, bson.D)) {
			for i := range 3 {
				insert("null", madeup.Row(tenant, int64(i), "name", "a\n# b: \u202e"))
				insert(coll, madeup.Row(tenant, int32(i), "true", "yes", "{}: ", 1, "bad\nfield", 1))
			}
		},
	}
	proposed(t, propose.Options{}, func(t *testing.T, p propose.Proposal) {
		want := fmt.Sprintf("tenant %s listed by null.%s name name; documents %s key true", tenant, tenant, coll)
		if got := summary(p); !strings.HasPrefix(got, want) {
			t.Errorf("got\n%s\nwant\n%s\n%s", got, want, p.YAML())
		}
		for line := range strings.SplitSeq(string(p.YAML()), "\n") {
			expect.That(t, !strings.ContainsAny(line, "\u202e\u2028\r"), "%q shows what cannot be seen", line)
		}
		for _, want := range []string{"api_key", "meta.tenant", "left out: a profile cannot name this collection"} {
			if !strings.Contains(strings.Join(p.Reasons, "\n"), want) {
				t.Errorf("the reasons do not say %q: %q", want, p.Reasons)
			}
		}
	}, evil)
}

// refusing refuses some reads.
type refusing struct {
	propose.Source
	find, indexes string // collections, or * for all
}

var errRefused = fault.New(fault.Forbidden, "The cluster user may not do that.")

func refuses(coll string, ns topology.Namespace) bool { return coll == "*" || coll == ns.Collection() }

func (r refusing) FieldNames(ctx context.Context, ns topology.Namespace, paths []string, rows int) ([]propose.Field, error) {
	if refuses(r.find, ns) {
		return nil, errRefused
	}
	return r.Source.FieldNames(ctx, ns, paths, rows)
}

func (r refusing) SomeRows(ctx context.Context, ns topology.Namespace, q propose.Rows) ([]bson.Raw, error) {
	if refuses(r.find, ns) {
		return nil, errRefused
	}
	return r.Source.SomeRows(ctx, ns, q)
}

func (r refusing) CountOf(ctx context.Context, ns topology.Namespace, f string, v bson.RawValue, n int) (int64, error) {
	if refuses(r.find, ns) {
		return 0, errRefused
	}
	return r.Source.CountOf(ctx, ns, f, v, n)
}

func (r refusing) UniqueIndexes(ctx context.Context, ns topology.Namespace) ([][]string, error) {
	if refuses(r.indexes, ns) {
		return nil, errRefused
	}
	return r.Source.UniqueIndexes(ctx, ns)
}

func TestWhatCouldNotBeReadIsSaid(t *testing.T) {
	for _, tc := range []struct {
		what    refusing
		says    string
		summary string
	}{
		{refusing{find: "*", indexes: "*"}, "The indexes of shop.orders could not be read: The cluster user may not do that.",
			"tenant tenantId listed by tenants._id name ; documents orders key _id; Tenants, Orders"},
		{refusing{find: "tenants"}, "Rows of shop.tenants could not be read",
			"tenant tenantId listed by tenants._id name ; documents orders key orderNumber; Tenants, Orders"},
	} {
		proposedBy(t, func(s propose.Source) propose.Source { tc.what.Source = s; return tc.what }, propose.Options{},
			func(t *testing.T, p propose.Proposal) {
				if got := summary(p); !strings.HasPrefix(got, tc.summary) {
					t.Errorf("got\n%s\nwant\n%s", got, tc.summary)
				}
				expect.ContainsAll(t, string(p.YAML()), []string{tc.says, "by its name"}, "the file does not say %q", tc.says)
			}, madeup.Shop)
	}
}

// The largest number of keys decides; options take another database or field.
func TestOneOfSeveralCandidatesIsProposed(t *testing.T) {
	for _, tc := range []struct {
		options propose.Options
		want    string
		reasons string
	}{
		{propose.Options{}, "shop tenantId", "Other databases have such keys: analytics, files, fleet."},
		{propose.Options{Database: "analytics"}, "analytics userId", "userId is the tenant"},
		{propose.Options{Database: "shop", Tenant: "host"}, "", "host is not taken for the tenant"},
		{propose.Options{Database: "shop", Tenant: "absent"}, "", "No shard key begins with absent."},
		{propose.Options{Database: "absent"}, "", "The database absent has no sharded collection."},
	} {
		proposed(t, tc.options, func(t *testing.T, p propose.Proposal) {
			got := ""
			if p.Profile != nil {
				got = p.Database + " " + p.Profile.Keys.Project
			}
			if got != tc.want || !strings.Contains(strings.Join(p.Reasons, "\n"), tc.reasons) {
				t.Errorf("%+v: got %q, %q; want %q, %q", tc.options, got, p.Reasons, tc.want, tc.reasons)
			}
		}, madeup.Shop, madeup.Fleet, madeup.Analytics, madeup.Files)
	}
}

func TestKeyOfSingleRowsIsNoTenant(t *testing.T) {
	for _, key := range []any{1, "hashed"} {
		rows := madeup.Schema{DB: "fleet", Keys: map[string]bson.D{"devices": madeup.Row("serial", key)},
			Rows: func(insert func(string, bson.D)) {
				for i := range 30 {
					insert("devices", madeup.Row("serial", fmt.Sprintf("s%d", i)))
				}
			}}
		proposed(t, propose.Options{}, func(t *testing.T, p propose.Proposal) {
			expect.Contains(t, fault.Text(p.Nothing()), "each row that was looked at has a value of its own", "Nothing")
		}, rows)
	}
}

// Most keys begin with the id of an order, but orders are a tenant's.
func TestTenantIsAboveWhatItsRowsAreSpreadBy(t *testing.T) {
	shop := madeup.Schema{DB: "shop", Keys: map[string]bson.D{"orders": madeup.Row("shopId", 1), "lines": madeup.Row("order", "hashed"),
		"payments": madeup.Row("order", "hashed")}, Rows: func(insert func(string, bson.D)) {
		for i := range 12 {
			id := bson.NewObjectID()
			insert("orders", madeup.Row("_id", id, "shopId", int64(i%3), "number", fmt.Sprint(i)))
			insert("lines", madeup.Row("order", id))
			insert("lines", madeup.Row("order", id))
			insert("payments", madeup.Row("order", id))
		}
	}}
	for _, tc := range []struct{ tenant, want string }{
		{"", "tenant shopId listed by ._id name ; documents orders key number; Shops, Orders\norders shopId/_id {shopId: 1}\n" +
			"lines /order {order: \"hashed\"}\npayments /order {order: \"hashed\"}"},
		{"order", "tenant order listed by orders._id"},
	} {
		proposed(t, propose.Options{Tenant: tc.tenant}, func(t *testing.T, p propose.Proposal) {
			if got := summary(p); !strings.HasPrefix(got, tc.want) {
				t.Errorf("got\n%s\nwant\n%s\n%q", got, tc.want, p.Reasons)
			}
		}, shop)
	}
}

// long is a source with a long list of tenants.
type long struct{ propose.Source }

func (l long) CountOf(ctx context.Context, ns topology.Namespace, field string, v bson.RawValue, limit int) (int64, error) {
	if field == "" {
		return int64(limit), nil
	}
	return l.Source.CountOf(ctx, ns, field, v, limit)
}

// The server finds such rows by no path, and a profile cannot name the field.
func TestFieldWithADotInItsNameIsNoTenant(t *testing.T) {
	proposed(t, propose.Options{}, func(t *testing.T, p propose.Proposal) {
		want := "tenant.id is not taken for the tenant: rows of events have a field whose own name is that."
		if err := p.Nothing(); !strings.Contains(fault.Text(err), want) {
			t.Errorf("got %v, want …%s…", err, want)
		}
	}, madeup.Dotted)
}

func TestListThatDoesNotFitIntoMemoryIsLeftOut(t *testing.T) {
	proposedBy(t, func(s propose.Source) propose.Source { return long{s} }, propose.Options{}, func(t *testing.T, p propose.Proposal) {
		if p.Profile.Names.Collection != "" || !strings.Contains(strings.Join(p.Reasons, " "), "has more than 100000 rows") {
			t.Errorf("got %+v, %q", p.Profile.Names, p.Reasons)
		}
	}, madeup.Analytics)
}

// Tenants that are listed make up for those that random rows do not have.
func TestPreviewHasFiveTenantsWhereTheyAreListed(t *testing.T) {
	one := madeup.Schema{DB: "crm", Keys: map[string]bson.D{"contacts": madeup.Row("accountNo", 1, "_id", 1)},
		Unique: map[string]string{"accounts": "accountNo"}, Rows: func(insert func(string, bson.D)) {
			for i := range 9 {
				insert("accounts", madeup.Row("accountNo", int64(i), "title", fmt.Sprintf("Account %d", i)))
			}
			insert("contacts", madeup.Row("accountNo", int32(7)))
			insert("contacts", madeup.Row("accountNo", 7.0))
		}}
	proposed(t, propose.Options{}, func(t *testing.T, p propose.Proposal) {
		if len(p.Tenants) != 5 || p.Tenants[0].Name != "Account 7" || p.Tenants[0].Holds[0].Rows != 2 || p.Tenants[1].Holds[0].Rows != 0 {
			t.Errorf("got %s", summary(p))
		}
		if p.Profile.Names.Collection != "accounts" || p.Profile.Names.ID != "accountNo" || p.Profile.Names.Name != "title" {
			t.Errorf("got %+v", p.Profile.Names)
		}
	}, one)
}

func TestNothingIsProposedWithoutShardedCollections(t *testing.T) {
	unsharded := madeup.Schema{DB: "plain", Rows: func(insert func(string, bson.D)) { insert("orders", madeup.Row("tenantId", 1)) }}
	proposed(t, propose.Options{}, func(t *testing.T, p propose.Proposal) {
		refused.With(t, p.Nothing(), fault.NotFound, "No collection is sharded", "Nothing")
	}, unsharded)
}
