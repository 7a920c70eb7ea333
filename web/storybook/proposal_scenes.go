package storybook

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/profile"
	"shardboard/internal/profile/propose"
	"shardboard/internal/store"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// proposed is what was made for a cluster that fits no profile; nil: it is being made.
type proposed struct{ made *propose.Proposal }

func (p proposed) Proposal() (propose.Proposal, bool) {
	if p.made == nil {
		return propose.Proposal{}, false
	}
	return *p.made, true
}

// keeps keeps a profile, unless it says why not.
type keeps string

func (k keeps) WhyNot() string                                       { return string(k) }
func (k keeps) Using() bool                                          { return false }
func (k keeps) Keep(context.Context, store.AuditEntry, string) error { return nil }
func (k keeps) Drop(context.Context, store.AuditEntry) error         { return nil }

// proposalScenes are the first page of a cluster that fits no profile.
func proposalScenes(v answer.View) (out []webtest.Scene) {
	elsewhere := &profile.Profile{Name: "elsewhere", Names: profile.ProjectFields{Collection: "tenants"},
		Keys: profile.DocumentFields{Collection: "orders", Project: "tenant"}, Layouts: []profile.Layout{{Name: "elsewhere"}}}
	shop := *elsewhere
	shop.Name, shop.Tenants, shop.Called = "shop", profile.Called{One: "Tenant", Many: "Tenants"}, profile.Called{One: "Order", Many: "Orders"}
	full := propose.Proposal{Profile: &shop, Database: "shop", Reasons: []string{
		"tenantId is the tenant: 4 of 5 shard keys of the database shop begin with it.",
		"tenants lists the tenants: 20 of 20 values of tenantId that were read are its _id.", "name of tenants names a tenant.",
		"orders has the documents: 2 other collections are parts of it or refer to its rows.",
		"orderNumber names a document: a unique index has it beside the tenant."},
		Unread: []string{"The indexes of shop.invoices could not be read: The cluster user is not permitted to list indexes."}}
	for i, name := range []string{"Garden & Sons", "Nordlicht", "La Tienda", "A very long name of a tenant that says what it sells", ""} {
		kind, id, _ := bson.MarshalValue([]string{"garden", "nordlicht", "tienda", "long", "t-5"}[i]) // text can be marshalled
		full.Tenants = append(full.Tenants, propose.Tenant{ID: bson.RawValue{Type: kind, Value: id}, Name: name, Holds: []propose.Held{
			{NS: "shop.orders", Rows: int64(10_000 - 2100*i), Known: true, AtLeast: i == 0, Shards: []string{"shard-rs-1"}},
			{NS: "shop.order_items", Rows: int64(9000 - 1700*i), Known: i != 3, Shards: []string{"shard-rs-1", "shard-rs-2"}},
		}})
	}
	none := propose.Proposal{Reasons: []string{"Every shard key begins with _id, which tells each row from all others and groups none."}}
	for _, x := range []struct {
		name string
		p    *propose.Proposal
		kept answer.KeptProfile
	}{
		{"overview-proposal", &full, keeps("")}, {"overview-proposal-given", &full, keeps("A profile is given by --profile.")},
		{"overview-proposal-making", nil, nil}, {"overview-proposal-none", &none, nil},
	} {
		out = append(out, webtest.Scene{Name: x.name, Path: "/", View: v, Change: func(d *site.Deps) {
			d.Cluster.Profile, d.Cluster.Proposer, d.Cluster.Kept = elsewhere, proposed{x.p}, x.kept
		}})
	}
	return out
}
