package main

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vincent-petithory/dataurl"
)

// lay is a stand-in of Ignition: it lays the inline files and the units of a config below root, as far as the configs of the bench go.
func lay(from io.Reader, root string) error {
	var config struct {
		Storage struct {
			Files []struct {
				Path     string
				Mode     fs.FileMode
				Contents struct{ Source string }
			}
		}
		Systemd struct {
			Units []struct {
				Name, Contents string
				Enabled        bool
			}
		}
	}
	if err := json.NewDecoder(from).Decode(&config); err != nil {
		return fmt.Errorf("reading the Ignition config: %w", err)
	}
	for _, f := range config.Storage.Files {
		u, err := dataurl.DecodeString(f.Contents.Source)
		if err != nil {
			return fmt.Errorf("laying %s: %w", f.Path, err)
		}
		if err := put(filepath.Join(root, f.Path), u.Data, f.Mode); err != nil {
			return err
		}
	}
	const units = "etc/systemd/system"
	for _, u := range config.Systemd.Units {
		if err := put(filepath.Join(root, units, u.Name), []byte(u.Contents), 0o644); err != nil {
			return err
		}
		_, wants, _ := strings.Cut(u.Contents, "\nWantedBy=")
		wants, _, _ = strings.Cut(wants, "\n")
		if !u.Enabled || wants == "" {
			continue
		}
		link := filepath.Join(root, units, wants+".wants", u.Name)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			return fmt.Errorf("enabling %s: %w", u.Name, err)
		}
		if err := os.Symlink("../"+u.Name, link); err != nil && !os.IsExist(err) {
			return fmt.Errorf("enabling %s: %w", u.Name, err)
		}
	}
	return nil
}

func put(name string, data []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("laying %s: %w", name, err)
	}
	_ = os.Remove(name) // an earlier boot of the same disk laid it
	if err := os.WriteFile(name, data, mode); err != nil {
		return fmt.Errorf("laying %s: %w", name, err)
	}
	return nil
}
