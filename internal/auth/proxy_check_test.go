package auth

import (
	"net/netip"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store/sqlite"
)

func TestProxyNetworksThatAreTooWideAreRejected(t *testing.T) {
	for _, wide := range []string{"0.0.0.0/0", "::/0", "0.0.0.0/1", "128.0.0.0/1", "64.0.0.0/7", "8000::/1", "2000::/3", "2a00::/12",
		"::ffff:0.0.0.0/96", "::ffff:128.0.0.0/97", "fc00::/6", "fe00::/9"} {
		_, err := ParseProxy(wide)
		expectKind(t, wide, err, fault.Invalid)
	}
	for _, none := range []string{"", "proxy", "10.0.0.0/99", "10.0.0", "fe80::1%eth0", "10.0.0.1:80"} {
		_, err := ParseProxy(none)
		expectKind(t, none, err, fault.Invalid)
	}
	for text, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "10.1.2.3/16": "10.1.0.0/16", "192.0.2.7": "192.0.2.7/32", "2001:db8::1": "2001:db8::1/128",
		"2001:db8::/32": "2001:db8::/32",
		"fc00::/7":      "fc00::/7", "fd00::/8": "fd00::/8", "fe80::/10": "fe80::/10", "::1": "::1/128",
		"::ffff:10.1.2.3": "10.1.2.3/32", "::ffff:10.1.0.0/112": "10.1.0.0/16", // connections are known by the IPv4 address
	} {
		p, err := ParseProxy(text)
		if err != nil || p.String() != want {
			t.Errorf("%s: %s, %v; want %s", text, p, err, want)
		}
	}
}

func TestReservedHeadersCannotIdentifyUsers(t *testing.T) {
	db, err := sqlite.Open(t.Context(), t.TempDir())
	must.Do(t, err)
	defer func() { _ = db.Close() }()
	with := func(name, role string) error {
		_, err := New(Options{Store: db, Mode: ModeProxy, Cost: Cost{Memory: 64, Time: 1},
			Proxy: ProxyOptions{Header: name, RoleHeader: role, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.1.0.7/32")}}})
		return err
	}
	for _, bad := range []string{"Bad Header", "Ünicode", "X-User:", "X-User\r\nX-Role", "Cookie", "cookie", "Authorization", "Host",
		"User-Agent", "Referer", "Accept-Language",
		"Sec-Fetch-Site", "X-Forwarded-For", "Forwarded", "Origin", "Content-Type"} {
		expectKind(t, "the name in "+bad, with(bad, ""), fault.Invalid)
		expectKind(t, "the role in "+bad, with("X-User", bad), fault.Invalid)
	}
	expectKind(t, "both in one", with("X-U", "x-u"), fault.Invalid)
	for _, good := range [][2]string{{"X-Forwarded-User", ""}, {"Remote-User", "Remote-Groups"}, {"x-webauth-user", "X-WEBAUTH-ROLE"},
		{"X_User", "X-User"}} {
		if err := with(good[0], good[1]); err != nil {
			t.Errorf("%q: unexpected error: %v", good, err)
		}
	}
}
