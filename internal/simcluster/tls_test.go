package simcluster

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/simcluster/access"
)

// tlsCluster is a cluster with users jo (password) and CN=shardboard,O=Example, whose
// clients need certificates of the authority, unless optional is set.
func tlsCluster(t *testing.T, ca *authority, optional bool) *Cluster {
	t.Helper()
	cert, key := ca.issue(pkix.Name{CommonName: "mongos"}, "sim.invalid")
	config, err := TLSConfig(Certificates{Server: cert, Key: key, ClientCA: ca.pem, OptionalForClients: optional})
	if err != nil {
		t.Fatal(err)
	}
	return emptyCluster(t, func(o *Options) {
		o.TLS = config
		o.Users = []access.User{
			{Name: "jo", Password: "secret"},
			{Name: "CN=shardboard,O=Example", Certificate: true, Roles: []string{"clusterMonitor"}},
		}
	})
}

// runOver runs a command with a client of the given TLS configuration and credential.
func runOver(t *testing.T, c *Cluster, config *tls.Config, credential *options.Credential, cmd bson.D) (bson.Raw, error) {
	t.Helper()
	client := connect(t, c, func(o *options.ClientOptions) {
		o.SetServerSelectionTimeout(200 * time.Millisecond).SetTimeout(2 * time.Second)
		if config != nil {
			o.SetTLSConfig(config)
		}
		if credential != nil {
			o.SetAuth(*credential)
		}
	})
	return client.Database("admin").RunCommand(t.Context(), cmd).Raw()
}

func TestClientsConnectByTLS(t *testing.T) {
	t.Parallel()
	ca, other := newAuthority(t), newAuthority(t)
	board := pkix.Name{CommonName: "shardboard", Organization: []string{"Example"}}
	scram := func(mechanism string) *options.Credential {
		return &options.Credential{AuthMechanism: mechanism, Username: "jo", Password: "secret"}
	}
	x509 := &options.Credential{AuthMechanism: "MONGODB-X509"}
	shards := d("listShards", 1)
	for _, x := range []struct {
		name       string
		optional   bool
		config     *tls.Config
		credential *options.Credential
		cmd        bson.D
		wrong      string // part of the error
	}{
		{"SCRAM-SHA-256 without certificate", true, ca.trust(), scram("SCRAM-SHA-256"), shards, ""},
		{"SCRAM-SHA-1 with certificate", false, ca.trust(board), scram("SCRAM-SHA-1"), shards, ""},
		{"wrong password", true, ca.trust(), &options.Credential{Username: "jo", Password: "wrong"}, shards, "Authentication failed"},
		{"X.509", false, ca.trust(board), x509, shards, ""},
		{"X.509 beyond its roles", false, ca.trust(board), x509, d("createUser", "eve", "pwd", "x", "roles", bson.A{}), "not authorized"},
		{"X.509 of nobody", false, ca.trust(pkix.Name{CommonName: "eve"}), x509, shards, "Authentication failed"},
		{"X.509 without certificate", true, ca.trust(), x509, shards, "Authentication failed"},
		{"X.509 with another's name", false, ca.trust(pkix.Name{CommonName: "eve"}),
			&options.Credential{AuthMechanism: "MONGODB-X509", Username: "CN=shardboard,O=Example"}, shards, "Authentication failed"},
		{"certificate but nobody signed in", false, ca.trust(board), nil, shards, "requires authentication"},
		{"required certificate missing", false, ca.trust(), scram("SCRAM-SHA-256"), shards, "server selection error"},
		{"certificate of another CA", false, func() *tls.Config {
			config := ca.trust()
			config.Certificates = other.trust(board).Certificates
			return config
		}(), x509, shards, "server selection error"},
		{"server's CA unknown", true, other.trust(), scram("SCRAM-SHA-256"), shards, "certificate signed by unknown authority"},
		{"no TLS", true, nil, scram("SCRAM-SHA-256"), shards, "server selection error"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			reply, err := runOver(t, tlsCluster(t, ca, x.optional), x.config, x.credential, x.cmd)
			switch {
			case x.wrong == "" && err != nil:
				t.Error(err)
			case x.wrong != "" && (err == nil || !strings.Contains(err.Error(), x.wrong)):
				t.Errorf("%s %v, want an error with %q", reply, err, x.wrong)
			}
		})
	}
}

func TestUsersOfCertificatesAreCreatedInExternal(t *testing.T) {
	ca := newAuthority(t)
	c := tlsCluster(t, ca, true)
	client := connect(t, c, func(o *options.ClientOptions) {
		o.SetTLSConfig(ca.trust()).SetAuth(options.Credential{Username: "jo", Password: "secret"})
	})
	external := client.Database("$external")
	run := func(db *mongo.Database, cmd bson.D) error { return db.RunCommand(t.Context(), cmd).Err() }
	wantCode(t, run(external, d("createUser", "CN=new", "pwd", "x", "roles", bson.A{})), 2, "Cannot set the password")
	wantCode(t, run(client.Database("db"), d("createUser", "CN=new", "roles", bson.A{})), 2, "Must provide a 'pwd'")
	if err := run(external, d("createUser", "CN=new", "roles", bson.A{d("role", "read", "db", "db")})); err != nil {
		t.Fatal(err)
	}
	status, err := runOver(t, c, ca.trust(pkix.Name{CommonName: "new"}), &options.Credential{AuthMechanism: "MONGODB-X509"},
		d("connectionStatus", 1))
	if err != nil || status.Lookup("authInfo", "authenticatedUsers", "0", "user").StringValue() != "CN=new" {
		t.Errorf("%s %v", status, err)
	}
	info, err := external.RunCommand(t.Context(), d("usersInfo", "CN=new", "showCredentials", true)).Raw()
	if err != nil || !info.Lookup("users", "0", "credentials", "external").Boolean() {
		t.Errorf("%s %v", info, err)
	}
}

func TestUserFileNamesCertificates(t *testing.T) {
	users, err := access.ReadUsers(strings.NewReader("# who may come in\n" +
		"jo secret clusterAdmin\n\"CN=board,O=Big Corp\" $external clusterMonitor read@db\nCN=other $external\n"))
	if err != nil || len(users) != 3 || users[1].Name != "CN=board,O=Big Corp" || !users[1].Certificate || len(users[1].Roles) != 2 ||
		users[0].Certificate || users[0].Password != "secret" || users[2].Name != "CN=other" {
		t.Errorf("%+v %v", users, err)
	}
	for _, bad := range []string{"\"CN=board $external", "\"\" $external", "\"CN=board\"", "jo"} {
		if _, err := access.ReadUsers(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestBrokenCertificatesAreRefused(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(pkix.Name{CommonName: "mongos"}, "sim.invalid")
	_, otherKey := ca.issue(pkix.Name{CommonName: "mongos"})
	for name, c := range map[string]Certificates{
		"no certificate":                   {},
		"key of another":                   {Server: cert, Key: otherKey},
		"CA without certificate":           {Server: cert, Key: key, ClientCA: []byte("nothing")},
		"optional certificates without CA": {Server: cert, Key: key, OptionalForClients: true},
	} {
		if _, err := TLSConfig(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
