"""PDFs written by hand, as small as the format allows: pages of lines, an outline, a password."""

from collections.abc import Sequence


def pdf_bytes(
    *pages: Sequence[str], outline: Sequence[tuple[str, int]] = (), title: str = "", locked: bool = False
) -> bytes:
    """A PDF with these lines on its pages. `outline` holds titles and the page each leads to, counted from 0."""
    objects: list[str] = [
        f"<< /Type /Catalog /Pages 2 0 R {'/Outlines 5 0 R' if outline else ''} >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{' '.join(f'{6 + 2 * n} 0 R' for n in range(len(pages)))}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({title}) >>",
    ]
    first_mark = 6 + 2 * len(pages)
    last_mark = first_mark + len(outline) - 1
    objects.append(f"<< /First {first_mark} 0 R /Last {last_mark} 0 R /Count {len(outline)} >>" if outline else "<< >>")
    for place, lines in enumerate(pages):
        drawn = "".join(f"({_escaped(line)}) Tj 0 -14 Td " for line in lines)
        stream = f"BT /F1 12 Tf 60 740 Td {drawn}ET"
        box = "/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {box} /Contents {7 + 2 * place} 0 R >>")
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    for place, (name, page) in enumerate(outline):
        following = f"/Next {first_mark + place + 1} 0 R" if place + 1 < len(outline) else ""
        objects.append(f"<< /Title ({name}) /Parent 5 0 R {following} /Dest [{6 + 2 * page} 0 R /Fit] >>")
    body, places = b"%PDF-1.4\n", []
    for number, written in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{written}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    lock = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -44 /O ({'o' * 32}) /U ({'u' * 32}) >> /ID [(a) (a)]"
    trailer = f"<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R {lock if locked else ''} >>"
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n{trailer}\nstartxref\n{len(body)}\n%%EOF\n"
    return body + end.encode("latin-1")


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
