package profile

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
)

const shop = "../../docs/profiles/shop.yaml"

func TestShopExampleIsParsedCompletely(t *testing.T) {
	p, err := Read(shop)
	must.Do(t, err)
	want := &Profile{
		Name: "shop",
		Names: ProjectFields{Collection: "tenants", Name: "name", PublicKey: "label", CreatedAt: "created_at",
			Documents: "order_count", CountedAt: "counted_at"},
		Keys: DocumentFields{Collection: "orders", Project: "tenant_id", Key: "number", AnyType: true,
			RemovedAt: "cancelled_at", CreatedAt: "created_at"},
		Called: Called{One: "Order", Many: "Orders"},
		Layouts: []Layout{{Name: "shop", Collections: []Collection{
			{Name: "orders", Scope: ScopeProject, ProjectField: "tenant_id", DocumentField: "_id", KeyField: "number",
				Kind: "document", Expected: "{tenant_id: 1}", What: "one row per order"},
			{Name: "tenants", Scope: ScopeCluster, ProjectField: "_id", KeyField: "name", Unjudged: true},
			{Name: "order_lines", Scope: ScopeDocument, ProjectField: "tenant_id", DocumentField: "order_id",
				Expected: `{order_id: "hashed"}`, What: "what was ordered"},
			{Name: "customers", Scope: ScopeProject, ProjectField: "tenant_id", KeyField: "email_name",
				Kind: "Customer", Expected: `{tenant_id: 1, _id: "hashed"}`, What: "one row per customer"},
			{Name: "settings", Scope: ScopeCluster, What: "settings of the shop itself"},
		}}},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("got %v, want empty", diff)
	}
}

func TestProfileStatesHowEachCollectionIsWritten(t *testing.T) {
	b := must.Get(os.ReadFile(shop))
	text := strings.Replace(string(b), "  key: number\n", "  key: number\n  writtenAt: changed_at\n", 1)
	path := t.TempDir() + "/shop.yaml"
	if err := os.WriteFile(path,
		[]byte(strings.Replace(text, "  - name: customers\n", "  - name: customers\n    writes: appended\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Read(path)
	must.Do(t, err)
	orders, _ := p.Collection("orders")
	customers, _ := p.Collection("customers")
	if orders.WrittenAt != "changed_at" || orders.Appended || !customers.Appended || customers.WrittenAt != "" {
		t.Errorf("%+v\n%+v", orders, customers)
	}
}

// Each case changes one line of the example. The error must name file, line and field.
func TestProfileErrorsNameLineAndField(t *testing.T) {
	b := must.Get(os.ReadFile(shop))
	tests := []struct{ old, new, want string }{
		{"  name: name", "  name: password",
			`shop.yaml:7: tenants.name: "password" looks like a secret (password): shardboard does not read such fields.`},
		{"  publicKey: label", "  publicKey: secret_key",
			`shop.yaml:8: tenants.publicKey: "secret_key" looks like a secret (secret): shardboard does not read such fields.`},
		{"  key: number", "  key: Token2",
			`shop.yaml:16: documents.key: "Token2" looks like a secret (token): shardboard does not read such fields.`},
		{
			"  name: name",
			"  nmae: name",
			`shop.yaml:7: tenants: there is no field "nmae"; known are collection, id, name, called, publicKey, createdAt, documents, countedAt, holds.`,
		},
		{"  name: name\n", "  called: {one: Tenant}\n", `shop.yaml:7: tenants.called: the field many is missing.`},
		{"  collection: tenants\n", "", `shop.yaml:6: tenants.name: without tenants.collection there are no rows that could have this field.`},
		{"  name: name", "  name: true", `shop.yaml:7: tenants.name: expected text, found true or false. Put it in quotes if it is meant.`},
		{"  name: name", "  name: 7", `shop.yaml:7: tenants.name: expected text, found a number. Put it in quotes if it is meant.`},
		{"  name: name", "  name:", `shop.yaml:7: tenants.name: expected text, found nothing. Put it in quotes if it is meant.`},
		{"  name: name", "  name: [name]", `shop.yaml:7: tenants.name: expected text, found a list. Put it in quotes if it is meant.`},
		{"  name: name", "  name: \" \"", `shop.yaml:7: tenants.name: the text is empty.`},
		{"  name: name", "  name: $where", `shop.yaml:7: tenants.name: the name of a field cannot begin with a dollar sign.`},
		{"  name: name", "  name: profile..name", `shop.yaml:7: tenants.name: "profile..name" has an empty part: ` +
			`write one dot between the names of a field and of the field inside it, as in tenant.id.`},
		{"  name: name", "  name: .name", `shop.yaml:7: tenants.name: ".name" has an empty part: ` +
			`write one dot between the names of a field and of the field inside it, as in tenant.id.`},
		{"  name: name", "  name: profile.$name", `shop.yaml:7: tenants.name: the name of a field cannot begin with a dollar sign.`},
		{"  name: name", "  name: names.0.text", `shop.yaml:7: tenants.name: "names.0.text" has the number 0 as a part, ` +
			`which is a place in a list; ids and shard keys cannot be in lists: name a field outside of it.`},
		{"  name: name", "  name: secrets.name",
			`shop.yaml:7: tenants.name: "secrets.name" looks like a secret (secret): shardboard does not read such fields.`},
		{"  name: name", "  name: " + strings.Repeat("a.", 100) + "b",
			`shop.yaml:7: tenants.name: the text has more than 200 bytes: shorten it, or name another field.`},
		{"  name: name", "  name: _id", `shop.yaml:7: tenants.name: _id is always read and need not be named.`},
		{"  publicKey: label", "  publicKey: name", `shop.yaml:8: tenants.publicKey: name is already the field of name.`},
		{"  name: name", "  name: name\n  name: other", `shop.yaml:8: tenants: the field name is there twice.`},
		{"  name: name", "  name: \"a\\u202eb\"", `shop.yaml:7: tenants.name: the text has control characters.`},
		{"  collection: orders", "  collection: tenants", `shop.yaml:14: documents.collection: tenants and documents must be two collections.`},
		{"  collection: orders", "  collection: system.users",
			`shop.yaml:14: documents.collection: "system.users" cannot be the name of a collection.`},
		{"  shardKey: {tenant_id: 1}", "  shardKey: {tenant_id: 2}", `shop.yaml:20: documents.shardKey.tenant_id: expected 1 or hashed.`},
		{
			"  shardKey: {tenant_id: 1}",
			"  shardKey: tenant_id",
			"shop.yaml:20: documents.shardKey: expected fields such as {tenant_id: 1, _id: hashed}, or the word unsharded, found text.",
		},
		{"  shardKey: {tenant_id: 1}", "  shardKey: {}", `shop.yaml:20: documents.shardKey: A shard key needs at least one field.`},
		{"  shardKey: {tenant_id: 1}", "  shardKey: {a: hashed, b: hashed}",
			`shop.yaml:20: documents.shardKey: A shard key can have one hashed field only; "b" is the second.`},
		{"  - name: settings", "  - name: orders", `shop.yaml:35: collections[2].name: the collection orders is there twice.`},
		{
			"  - name: settings",
			"  - nmae: settings",
			`shop.yaml:35: collections[2]: there is no field "nmae"; known are name, tenant, document, key, called, shardKey, holds, writes, writtenAt.`,
		},
		{"collections:\n", "collections: 7\nother:\n",
			`shop.yaml:24: there is no field "other"; known are name, tenants, documents, collections.`},
		{"name: shop", "name: &a shop\nx: *a", `shop.yaml:4: there is no field "x"; known are name, tenants, documents, collections.`},
		{"  name: name", "  name: &a name\n  publicKey: *a", `shop.yaml:9: tenants: the field publicKey is there twice.`},
		{"name: shop", "name: shop\n---\nname: shop", `shop.yaml: there is more than one document in the file.`},
		{"\ntenants:\n", "\ntenants: x: y\n", `shop.yaml:5: this is not YAML: mapping values are not allowed in this context.`},
		{string(b), "", `shop.yaml: the file is empty.`},
		{string(b), "# nothing\n", `shop.yaml: the file is empty.`},
		{string(b), "7", `shop.yaml:1: expected fields (name, tenants, documents, collections), found a number.`},
		{string(b), strings.Repeat("# x\n", 20_000), `shop.yaml: a profile has at most 65536 bytes.`},
	}
	for _, tc := range tests {
		must.That(t, strings.Count(string(b), tc.old) >= 1, "the example has no %q", tc.old)
		_, err := Parse("shop.yaml", []byte(strings.Replace(string(b), tc.old, tc.new, 1)))
		if fault.Of(err) != fault.Invalid {
			t.Errorf("%q: %v is no fault.Invalid", tc.new, err)
			continue
		}
		if got := fault.Text(err); got != tc.want {
			t.Errorf("%q:\n got %s\nwant %s", tc.new, got, tc.want)
		}
	}
}

func TestMissingProfileIsInvalid(t *testing.T) {
	_, err := Read("testdata/no such file.yaml")
	if fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), "no such file") {
		t.Errorf(`got %v, want kind %v, …"no such file"…`, err, fault.Invalid)
	}
}

// Any input gives a profile or an error.
func FuzzParse(f *testing.F) {
	if b, err := os.ReadFile(shop); err == nil {
		f.Add(b)
	}
	f.Add([]byte("name: &a [*a]\n"))
	f.Add([]byte("tenants: !!binary x\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := Parse("x", b); (p == nil) == (err == nil) {
			t.Errorf("got %v, %v, want either a profile or an error", p, err)
		}
	})
}
