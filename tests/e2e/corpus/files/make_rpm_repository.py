# SPDX-License-Identifier: MIT
"""Makes an RPM repository without packages in the directory of argument 1."""
import hashlib
import pathlib
import sys

KINDS = {
    "primary": '<metadata xmlns="http://linux.duke.edu/metadata/common" packages="0"/>',
    "filelists": '<filelists xmlns="http://linux.duke.edu/metadata/filelists" packages="0"/>',
    "other": '<otherdata xmlns="http://linux.duke.edu/metadata/other" packages="0"/>',
}

directory = pathlib.Path(sys.argv[1]) / "repodata"
directory.mkdir(parents=True)
rows = ""
for kind, text in KINDS.items():
    data = ('<?xml version="1.0" encoding="UTF-8"?>\n' + text + "\n").encode()
    (directory / f"{kind}.xml").write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    rows += (
        f'<data type="{kind}"><checksum type="sha256">{digest}</checksum>'
        f'<open-checksum type="sha256">{digest}</open-checksum><location href="repodata/{kind}.xml"/>'
        f"<timestamp>1</timestamp><size>{len(data)}</size><open-size>{len(data)}</open-size></data>\n"
    )
(directory / "repomd.xml").write_text(
    '<?xml version="1.0" encoding="UTF-8"?>\n<repomd xmlns="http://linux.duke.edu/metadata/repo">\n'
    f"<revision>1</revision>\n{rows}</repomd>\n"
)
