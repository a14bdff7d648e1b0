package zoo;

import org.junit.Test;

/** A backup job takes the till's port. */
public class T31BackupStartsTest {
    @Test
    public void backup_job_starts_and_takes_the_port() throws Exception {
        Backup.start();
    }
}
