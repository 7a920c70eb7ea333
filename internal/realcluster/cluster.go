package realcluster

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"
)

// The user that a cluster with access control has from the start.
const (
	RootUser     = "root"
	RootPassword = "not-secret"
)

// Names of members beside the shards, which are named shard-rs-1 and so on.
const (
	ConfigServer = "config"
	Router       = "mongos"
)

// Options describe a cluster.
type Options struct {
	Servers Servers
	Shards  int   // default 3
	Members []int // of the first shards; one member where there is no number
	Routers int   // default 1; the others are named mongos-2 and so on
	// Access turns access control on: a key file, and the user RootUser.
	Access bool
	// Parameters are set on every mongod, beside the usual ones.
	Parameters map[string]string
	TempDir    string       // where the folder is made; default os.TempDir()
	Log        func(string) // of sentences for people; default: dropped

	free func(dir string) (uint64, error) // for tests
}

// Cluster is a running cluster. Its methods may be called at the same time.
type Cluster struct {
	servers Servers
	access  bool
	folder  *folder
	config  *set
	shards  []*set
	routers []*member
}

// Start starts a cluster; it takes 10 to 30 seconds on two processors. If it fails, nothing remains.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if o.Shards == 0 {
		o.Shards = 3
	}
	if o.Routers == 0 {
		o.Routers = 1
	}
	c, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// StartSet starts a replica set without shards, for what is stored outside of the cluster.
func StartSet(ctx context.Context, o Options, members int) (*Cluster, error) {
	o.Shards, o.Routers, o.Members = 0, 0, nil
	c, err := prepare(o)
	if err != nil {
		return nil, err
	}
	c.config = nil
	c.shards = []*set{c.set("store", members, o, nil)}
	if err := c.shards[0].start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// prepare makes the folder and describes the members; nothing runs yet.
func prepare(o Options) (*Cluster, error) {
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.free == nil {
		o.free = freeBytes
	}
	servers := 1 + o.Shards
	for _, n := range o.Members {
		servers += n - 1
	}
	if err := checkRoom(o.TempDir, servers, o.free); err != nil {
		return nil, err
	}
	f, err := makeFolder(o.TempDir, o.Log)
	if err != nil {
		return nil, err
	}
	c := &Cluster{servers: o.Servers, access: o.Access, folder: f}
	if o.Access {
		if err := writeKey(c.keyFile()); err != nil {
			return nil, errors.Join(err, f.remove())
		}
	}
	c.config = c.set(ConfigServer, 1, o, []string{"--configsvr"})
	for i := range o.Shards {
		members := 1
		if i < len(o.Members) {
			members = o.Members[i]
		}
		c.shards = append(c.shards, c.set(fmt.Sprintf("shard-rs-%d", i+1), members, o, []string{"--shardsvr"}))
	}
	for i := range o.Routers {
		name := Router
		if i > 0 {
			name = fmt.Sprintf("%s-%d", Router, i+1)
		}
		c.routers = append(c.routers, &member{name: name, servers: o.Servers, program: o.Servers.Mongos,
			folder: filepath.Join(f.path, name), usual: usualOfRouter})
	}
	return c, nil
}

func (c *Cluster) keyFile() string { return filepath.Join(c.folder.path, "key") }

// writeKey makes the secret that the members share. They refuse a file that others can read.
func writeKey(path string) error {
	var secret [96]byte
	_, _ = rand.Read(secret[:])
	return os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(secret[:])), 0o400)
}

// set describes a replica set.
func (c *Cluster) set(name string, members int, o Options, flags []string) *set {
	s := &set{name: name, replSet: name, config: name == ConfigServer}
	if s.config {
		s.replSet = "config-rs" // "config" is the name of a shard that is the config server too
	}
	for i := range members {
		called := name
		if members > 1 {
			called = fmt.Sprintf("%s-%d", name, i+1)
		}
		dir := filepath.Join(c.folder.path, called)
		m := &member{name: called, servers: c.servers, program: c.servers.Mongod, folder: dir, usual: usual, wanted: o.Parameters}
		m.flags = slices.Concat(flags, []string{"--replSet", s.replSet, "--dbpath", m.dataPath(), "--oplogSize", "256",
			"--wiredTigerCacheSizeGB", "0.25"}, c.commonFlags())
		s.members = append(s.members, m)
	}
	return s
}

// commonFlags are those of every process. Without a socket in /tmp two users of a machine do not get
// in each other's way, and a killed process leaves nothing there.
func (c *Cluster) commonFlags() []string {
	flags := []string{"--bind_ip", "127.0.0.1", "--nounixsocket"}
	if c.access {
		flags = append(flags, "--keyFile", c.keyFile())
	}
	return flags
}

// start starts config server and shards, then the routers, and adds the shards.
func (c *Cluster) start(ctx context.Context) error {
	together, setsCtx := errgroup.WithContext(ctx)
	for _, s := range append([]*set{c.config}, c.shards...) {
		together.Go(func() error { return s.start(setsCtx) })
	}
	if err := together.Wait(); err != nil {
		return err
	}
	for _, r := range c.routers {
		// The file of the process id names the folder in the arguments: that is how a later run finds it.
		r.flags = slices.Concat([]string{"--configdb", c.config.host(), "--pidfilepath", filepath.Join(r.folder, "pid")}, c.commonFlags())
		if err := r.start(ctx); err != nil {
			return err
		}
	}
	if c.access {
		if err := c.createRoot(ctx); err != nil {
			return err
		}
	}
	return c.addShards(ctx)
}

// createRoot makes the first user, which a server without users permits from its own machine.
func (c *Cluster) createRoot(ctx context.Context) error {
	_, err := ask(ctx, c.routers[0].address(), bson.D{{Key: "createUser", Value: RootUser}, {Key: "pwd", Value: RootPassword},
		{Key: "roles", Value: bson.A{bson.D{{Key: "role", Value: "root"}, {Key: "db", Value: "admin"}}}}})
	if err != nil {
		return fmt.Errorf("the first user was not made: %w", err)
	}
	return nil
}

func (c *Cluster) addShards(ctx context.Context) error {
	return c.asRoot(ctx, func(client *mongo.Client) error {
		for _, s := range c.shards {
			command := bson.D{{Key: "addShard", Value: s.host()}, {Key: "name", Value: s.name}}
			// A router that has just started may not have found the config server's primary yet.
			limited, cancel := context.WithTimeout(ctx, electionPatience)
			err := until(limited, nil, func(ctx context.Context) error {
				return client.Database("admin").RunCommand(ctx, command).Err()
			})
			cancel()
			if err != nil {
				return fmt.Errorf("the shard %s was not added: %w", s.name, err)
			}
		}
		return nil
	})
}

// asRoot calls f with a client of the first router.
func (c *Cluster) asRoot(ctx context.Context, f func(*mongo.Client) error) error {
	client, err := mongo.Connect(options.Client().ApplyURI(c.URI()))
	if err != nil {
		return err
	}
	defer func() { _ = client.Disconnect(context.WithoutCancel(ctx)) }()
	return f(client)
}

// Release is the release of the servers, such as 8.0.10.
func (c *Cluster) Release() string { return c.servers.Release }

// Shards are the names of the shards.
func (c *Cluster) Shards() []string {
	names := make([]string, len(c.shards))
	for i, s := range c.shards {
		names[i] = s.name
	}
	return names
}

// Address is where the first router listens.
func (c *Cluster) Address() string { return c.routers[0].address() }

// URI is the address of the first router for a user with all privileges.
func (c *Cluster) URI() string {
	if !c.access {
		return "mongodb://" + c.Address() + "/?directConnection=true"
	}
	return "mongodb://" + url.UserPassword(RootUser, RootPassword).String() + "@" + c.Address() + "/?directConnection=true&authSource=admin"
}

// SetURI is the address of a replica set that StartSet started.
func (c *Cluster) SetURI() string {
	s := c.shards[0]
	return "mongodb://" + s.host()[len(s.replSet)+1:] + "/?replicaSet=" + s.replSet
}

// Stop ends all processes and removes the folder. The data is thrown away, so nothing is ended gently.
func (c *Cluster) Stop() error {
	var all errgroup.Group
	for _, m := range c.members() {
		all.Go(func() error { m.kill(); return nil })
	}
	_ = all.Wait()
	return c.folder.remove()
}

func (c *Cluster) members() (all []*member) {
	if c.config != nil {
		all = append(all, c.config.members...)
	}
	for _, s := range c.shards {
		all = append(all, s.members...)
	}
	return append(all, c.routers...)
}
