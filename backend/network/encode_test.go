package network

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"touchdown/backend/netconfig"
)

// readKeyfile reads a keyfile as GLib does (gkeyfile.c of 2.74: g_key_file_parse_line, g_key_file_parse_value_as_string). It shares
// nothing with the encoder, and takes what the encoder would never write: what matters is what NetworkManager would make of it.
func readKeyfile(text string) (map[string]string, error) {
	found, section := map[string]string{}, ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimLeft(strings.TrimSuffix(line, "\r"), " \t")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			if !strings.HasSuffix(strings.TrimRight(line, " \t"), "]") {
				return nil, errors.New("a group without its end")
			}
			section = strings.TrimSuffix(strings.TrimRight(line, " \t"), "]")[1:]
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok || section == "" {
				return nil, errors.New("neither a group nor a value")
			}
			text, err := unescape(strings.TrimLeft(value, " \t"))
			if err != nil {
				return nil, err
			}
			found[section+"."+strings.TrimRight(key, " \t")] = text // the last of two counts
		}
	}
	return found, nil
}

func unescape(value string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' {
			out.WriteByte(value[i])
			continue
		}
		i++
		if i == len(value) {
			return "", errors.New("an escape at the end of a line")
		}
		meant, ok := map[byte]byte{'s': ' ', 'n': '\n', 't': '\t', 'r': '\r', '\\': '\\'}[value[i]]
		if !ok {
			return "", errors.New("an escape that there is not")
		}
		out.WriteByte(meant)
	}
	if !utf8.ValidString(out.String()) {
		return "", errors.New("not UTF-8")
	}
	return out.String(), nil
}

// FuzzKeyfile writes texts as values and reads them back as NetworkManager would. They come back as they were, alone, or are refused.
func FuzzKeyfile(f *testing.F) {
	for _, text := range []string{
		"x", "", " x", "  x y ", `a\nb`, `\`, `\s`, "a;b", "a=b", "#x", "[x]", "x\n[ipv6]\nmethod=auto", "a\rb", "a\tb", "a\x00b", "\u2028", "\u0085", "\xff", "B\u00fcro",
	} {
		f.Add("description", text, "id", text)
		f.Add(text, "x", "connection", "y")
	}
	f.Fuzz(func(t *testing.T, key, value, key2, value2 string) {
		in := []group{
			{"connection", []entry{{"id", "first"}, {key, value}}}, {"ipv4", []entry{{"method", "auto"}, {key2, value2}}},
		}
		text, err := encode(in)
		if err != nil {
			return
		}
		want := map[string]string{"connection.id": "first", "ipv4.method": "auto", "connection." + key: value, "ipv4." + key2: value2}
		got, err := readKeyfile(text)
		if err != nil || len(got) != len(want) {
			t.Fatalf("read back %q (%v) from\n%s", got, err, text)
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%s is %q, want %q, in\n%s", k, got[k], v, text)
			}
		}
	})
}

// FuzzDocument compiles documents with texts put in everywhere, and reads the profiles back: a text that was put in comes back as one
// value or not at all, and changes nothing else in the profile.
func FuzzDocument(f *testing.F) {
	for _, text := range []string{
		"x", "x\n[ipv6]\nmethod=auto", "x\nautoconnect=false", "a;b\n[connection]\nautoconnect=false", "../../x", "a/b", "$(id)", "'", `\n`, ` "`, "\u2028", "br-ex", "1", "true",
		"aa:bb", "802.1x", "enp2s0", "\u202e", "198.51.100.1", "::1", "0.0.0.0/0",
	} {
		for place := range uint8(len(places)) {
			f.Add(place, text)
		}
	}
	now := factoryOf(f)
	f.Fuzz(func(t *testing.T, place uint8, text string) {
		read, err := netconfig.Parse([]byte(siteDocument("  description: none\n")))
		d := document(read)
		if err != nil {
			t.Fatal(err)
		}
		port := d.list("interfaces")[0]
		places[int(place)%len(places)](d, port, text)
		p, err := compilePlan(t.Context(), offlineOf(t).library, Settings{Raw: d.json()}, now, now)
		if err != nil {
			return
		}
		for _, k := range p.files {
			got, err := readKeyfile(k.Text)
			if err != nil {
				t.Fatalf("%v in\n%s", err, k.Text)
			}
			for key, want := range map[string]string{
				"connection.autoconnect": "true", "connection.autoconnect-priority": "10", "connection.id": prefix + got["connection.interface-name"], "connection.permissions": "",
			} {
				if got[key] != want {
					t.Errorf("%s is %q, want %q, in\n%s", key, got[key], want, k.Text)
				}
			}
			if k.Name != prefix+got["connection.interface-name"]+suffix || strings.Contains(k.Name, "/") {
				t.Errorf("the file of %q is %q", got["connection.interface-name"], k.Name)
			}
		}
	})
}

// places put a text somewhere into a document.
var places = []func(d document, port map[string]any, text string){
	func(_ document, port map[string]any, text string) { port["description"] = text },
	func(_ document, port map[string]any, text string) { port["profile-name"] = text },
	func(_ document, port map[string]any, text string) { port["mac-address"] = text },
	func(_ document, port map[string]any, text string) { port["name"] = text },
	func(_ document, port map[string]any, text string) { port[text] = text },
	func(d document, _ map[string]any, text string) { d[text] = text },
	func(_ document, port map[string]any, text string) {
		port["ipv4"] = map[string]any{"enabled": true, "dhcp": true, "dhcp-client-id": text}
	},
	func(_ document, port map[string]any, text string) {
		port["ipv4"] = map[string]any{"enabled": true, "dhcp": true, "dhcp-custom-hostname": text}
	},
	func(_ document, port map[string]any, text string) {
		port["ipv6"] = map[string]any{"enabled": true, "dhcp": true, "autoconf": true, "dhcp-duid": text}
	},
	func(d document, _ map[string]any, text string) {
		d["dns-resolver"] = map[string]any{"config": map[string]any{"server": []any{"198.51.100.53"}, "search": []any{text}}}
	},
	func(d document, _ map[string]any, text string) {
		d["dns-resolver"] = map[string]any{"config": map[string]any{"server": []any{text}}}
	},
	func(d document, _ map[string]any, text string) {
		d["dns-resolver"] = map[string]any{"config": map[string]any{"server": []any{"198.51.100.53"}, "options": []any{text}}}
	},
	func(d document, _ map[string]any, text string) { d.list("routes", "config")[0]["destination"] = text },
	func(d document, _ map[string]any, text string) {
		d.list("routes", "config")[0]["next-hop-address"] = text
	},
	func(_ document, port map[string]any, text string) {
		port["802.1x"] = map[string]any{"identity": text, "password": text, "eap-methods": []any{"peap"}, "phase2-auth": text}
	},
	func(_ document, port map[string]any, text string) {
		port["802.1x"] = map[string]any{"identity": "a", "eap-methods": []any{text}, "ca-cert": text}
	},
	func(_ document, port map[string]any, text string) {
		port["ethtool"] = map[string]any{"feature": map[string]any{text: true}}
	},
	func(d document, _ map[string]any, text string) {
		d["interfaces"] = append(d["interfaces"].([]any), map[string]any{
			"name": text, "type": "bond", "state": "up",
			"link-aggregation": map[string]any{"mode": "active-backup", "port": []any{"enp2s0"}, "options": map[string]any{text: text}},
		})
	},
	func(d document, _ map[string]any, text string) {
		d["interfaces"] = append(d["interfaces"].([]any), map[string]any{
			"name": text, "type": "vlan", "state": "up", "vlan": map[string]any{"base-iface": "enp1s0", "id": 7},
		})
	},
}
