package app

import (
	"context"
	"net"
	"slices"
	"strings"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/mongodb"
)

// StoreAddress is the address of a store on MongoDB; zero for a data directory.
type StoreAddress = mongodb.Address

// ReadStore takes the address of a store from a flag, or from a file so that the password need not be
// on the command line. Without either it is zero.
func ReadStore(address, file string) (StoreAddress, error) {
	switch {
	case address != "" && file != "":
		return StoreAddress{}, fault.New(fault.Invalid, "Give the store's address by --store or by --store-file, not both.")
	case file != "":
		return mongodb.ReadAddress(file)
	case address == "":
		return StoreAddress{}, nil
	}
	return mongodb.ParseAddress(address)
}

// HoldsSecret reports whether a text is an address with a password or a secret option. One that is not
// valid must be hidden too.
func HoldsSecret(text string) bool {
	uri, err := cluster.ParseURI(text)
	return err == nil && uri.HoldsSecret() || err != nil && mongodb.HoldsSecret(text)
}

// openStore opens what everything is stored in: a database that replicas share, or a directory.
func (a *App) openStore(ctx context.Context) (store.Database, error) {
	if a.config.Store.IsZero() {
		return a.openData(ctx)
	}
	o := a.config.StoreOptions
	o.Log = a.log
	db, err := mongodb.Open(ctx, a.config.Store, o)
	if err != nil {
		return nil, err
	}
	if db.Sharded() && slices.ContainsFunc(a.config.addresses(), func(uri cluster.URI) bool { return sharesHost(db.Hosts(), uri) }) {
		a.log.Warn("the store is in an observed cluster: when the cluster is down, so is the store, and nobody can sign in; and who may write "+
			"everything in the cluster can add accounts and tokens here", "store", db.Place())
	}
	if !db.Leads() {
		a.log.Info("another shardboard leads the store", "store", db.Place(), "leader", db.Leader().Name)
	}
	return db, nil
}

// Ignored lists the options of all addresses that have no effect, each with what to write instead.
func (c Config) Ignored() (out []string) {
	for _, uri := range c.addresses() {
		for _, text := range uri.Ignored() {
			out = append(out, uri.String()+": "+text)
		}
	}
	for _, text := range c.Store.Ignored() {
		out = append(out, c.Store.String()+": "+text)
	}
	return out
}

// addresses are those of all observed clusters.
func (c Config) addresses() []cluster.URI {
	if c.Clusters == nil {
		return []cluster.URI{c.URI}
	}
	var out []cluster.URI
	for _, one := range c.Clusters {
		out = append(out, one.URI)
	}
	return out
}

// sharesHost reports whether a store's hosts are also hosts of the cluster's address.
func sharesHost(hosts string, observed cluster.URI) bool {
	theirs := withPorts(observed.Hosts())
	return slices.ContainsFunc(withPorts(hosts), func(host string) bool { return slices.Contains(theirs, host) })
}

// withPorts are the hosts of a list, with the port that the driver takes where none is named.
func withPorts(hosts string) (out []string) {
	for host := range strings.SplitSeq(strings.ToLower(hosts), ",") {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host += ":27017"
		}
		out = append(out, host)
	}
	return out
}
