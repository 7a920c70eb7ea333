package access

import (
	"strings"
	"testing"
)

func TestMalformedMessagesAreRefused(t *testing.T) {
	for _, s := range []string{
		"", "n", "n,,", "n,,n=a", "n,,r=x,n=a", "n,,n=a,r=", "n,,n=,r=x", "n,,n==2c,r=x", "n,,n=a=,r=x", "n,a=b,n=a,r=x",
		"p=tls-unique,,n=a,r=x", "x,,n=a,r=x", "n,,m=1,n=a,r=x", "n,,n=a,r=" + strings.Repeat("x", maxMessage),
	} {
		if m, err := parseClientFirst(s); err == nil {
			t.Errorf("%.40q is read as %+v", s, m)
		}
	}
	for _, s := range []string{
		"", ",p=", "c=biws,r=x", "c=biws,r=x,p=!", "r=x,c=biws,p=AAAA", "c=biws,p=AAAA", "c=b!,r=x,p=AAAA", "c=biws,r=,p=AAAA",
		"c=biws,r=x,p=AAAA,p=A", "c=biws,r=x,p=" + strings.Repeat("A", maxMessage),
	} {
		if m, err := parseClientFinal(s); err == nil {
			t.Errorf("%.40q is read as %+v", s, m)
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add("n,,n=us=2Cer,r=nonce")
	f.Add("c=biws,r=nonce,p=AAAA")
	f.Add("n,,n==,r=,p=")
	f.Fuzz(func(t *testing.T, s string) {
		if m, err := parseClientFirst(s); err == nil {
			if m.header+m.bare != s || m.user == "" || strings.Contains(m.nonce, ",") {
				t.Errorf("%q: %+v", s, m)
			}
		}
		if m, err := parseClientFinal(s); err == nil {
			if !strings.HasPrefix(s, m.without+",p=") || m.nonce == "" {
				t.Errorf("%q: %+v, want …%v…, m.nonce not empty", s, m, m.without+",p=")
			}
		}
	})
}

func TestUnknownUserCannotSignIn(t *testing.T) {
	c, err := New(Options{Enforced: true, Major: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mechanisms() {
		one, known := c.credential(Name{"nobody", "admin"}, m)
		two, _ := c.credential(Name{"nobody", "admin"}, m)
		other, _ := c.credential(Name{"somebody", "admin"}, m)
		if known || string(one.salt) != string(two.salt) || string(one.salt) == string(other.salt) || len(one.salt) != m.saltSize {
			t.Errorf("%s: salts %x, %x, %x", m.name, one.salt, two.salt, other.salt)
		}
		if m.proves(one, "message", make([]byte, m.hash().Size())) || m.proves(one, "message", nil) {
			t.Errorf("%s: an unknown user's proof was accepted", m.name)
		}
	}
}
