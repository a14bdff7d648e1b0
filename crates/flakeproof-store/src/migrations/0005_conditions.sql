-- Where the command ran, relative to the repository: tests of two folders may have the same ids.
ALTER TABLE run ADD COLUMN folder TEXT NOT NULL DEFAULT '';
-- Whether the code stayed the same while it ran; if not, a pass proves nothing about it.
ALTER TABLE run ADD COLUMN is_settled INTEGER NOT NULL DEFAULT 1;
-- The rules of evidence by which its findings were made; 1 let failures go too easily.
ALTER TABLE run ADD COLUMN rules INTEGER NOT NULL DEFAULT 1;
